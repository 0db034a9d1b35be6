import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * force-graph and its tooltip add a <style> element when they load, which the daemon's content
 * security policy refuses. Their few rules stand in src/graph.css instead.
 */
function withoutInjectedStyles(): Plugin {
  return {
    name: "without-injected-styles",
    enforce: "pre",
    transform(code, id) {
      if (!/node_modules\/(force-graph|float-tooltip)\//.test(id)) return null;
      const stripped = code.replace(/^styleInject\([^)]*\);$/gm, "");
      return stripped === code ? null : { code: stripped, map: null };
    },
  };
}

/** `NEURIGRAPH_DAEMON=http://127.0.0.1:7878 npm run dev` works against a real daemon. */
const daemon = process.env.NEURIGRAPH_DAEMON;

/** Without a daemon, `npm run dev` answers with made-up memories. Builds and tests never load it. */
async function standIn(command: "build" | "serve"): Promise<Plugin[]> {
  if (command === "build" || daemon || process.env.VITEST) return [];
  const { mockDaemon } = await import("./dev/mock-daemon.ts");
  return [mockDaemon()];
}

export default defineConfig(async ({ command }) => ({
  plugins: [withoutInjectedStyles(), react(), tailwindcss(), ...(await standIn(command))],
  server: daemon ? { proxy: { "/api": daemon } } : {},
  build: {
    outDir: "dist",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
  },
}));
