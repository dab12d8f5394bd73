/** @type {import('next').NextConfig} */
const config = {
  // Two servers on one checkout (a person's and a test's) each build into a folder of their own.
  distDir: process.env.HOLDPOINT_DIST ?? '.next',
  poweredByHeader: false,
  reactStrictMode: true,
  devIndicators: false,
  images: { unoptimized: true },
  // Native or self-loading packages are required from node_modules, never bundled.
  serverExternalPackages: [
    ...['better-sqlite3', '@prisma/client', '@prisma/adapter-better-sqlite3', 'pino'],
    // Weight that a step loads when it first needs it.
    ...['ai', '@ai-sdk/anthropic', '@ai-sdk/google', '@ai-sdk/openai', '@ai-sdk/openai-compatible'],
    ...['@modelcontextprotocol/sdk', 'ajv'],
  ],
  // Types are checked by `npm test` with TypeScript 7, which has no API that Next could call.
  typescript: { ignoreBuildErrors: true },
}

export default config
