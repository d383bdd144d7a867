import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "browser",
  use: {
    launchOptions: {
      // CHROMIUM is the path of an installed browser. Without it, Playwright uses its own.
      ...(process.env.CHROMIUM && { executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }),
    },
  },
});
