import type { Plugin } from "vite";
export function mockDaemon(): Plugin {
  return { name: "mock-daemon" };
}
