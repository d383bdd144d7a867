// better-auth's sign-in by emailed code, configured as its documentation recommends, for lab/bench/signin.py.
// Usage: node server.mjs PORT DATABASE SMTP_HOST SMTP_PORT

import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { emailOTP } from "better-auth/plugins";
import Database from "better-sqlite3";
import nodemailer from "nodemailer";

const [port, databasePath, smtpHost, smtpPort] = process.argv.slice(2);

const database = new Database(databasePath);
// The driver's documentation recommends WAL for servers. Its default for syncing is NORMAL then.
database.pragma("journal_mode = WAL");

const mail = nodemailer.createTransport({ host: smtpHost, port: Number(smtpPort), pool: true, ignoreTLS: true });

const auth = betterAuth({
  baseURL: `http://127.0.0.1:${port}`,
  secret: randomBytes(32).toString("hex"),
  database,
  // All load comes from one address.
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    emailOTP({
      async sendVerificationOTP({ email, otp }) {
        await mail.sendMail({
          from: "Bench <bench@localhost>",
          to: email,
          subject: "Your code",
          text: `Your code is ${otp}\n\nIf this was not you, ignore this email.\n`,
        });
      },
    }),
  ],
});

const { runMigrations } = await getMigrations(auth.options);
await runMigrations();
createServer(toNodeHandler(auth)).listen(Number(port), "127.0.0.1");
