import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "browser",
  // CI machines can be slow.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: {
    launchOptions: {
      // CHROMIUM is the path of an installed browser. Without it, Playwright uses its own.
      ...(process.env.CHROMIUM && { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }),
    },
  },
});
