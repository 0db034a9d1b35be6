import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client.ts";
import { App } from "./app.tsx";
import "./index.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The event stream says what changed, so nothing grows old by itself.
      staleTime: 5 * 60_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      networkMode: "always",
      // While the daemon starts it answers 503 and asks for a little patience.
      retry: (times, error) => times < 8 && error instanceof ApiError && error.status === 503,
      retryDelay: 1000,
    },
    mutations: { networkMode: "always" },
  },
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}
