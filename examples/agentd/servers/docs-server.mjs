/*
 * A small MCP server over stdio, for the examples and their tests: pages one can read, and comments one can leave.
 * It keeps everything in memory and forgets it when it ends.
 *
 *   AGENTD_MCP_STDIO="node examples/agentd/servers/docs-server.mjs"
 */
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const pages = new Map([
  ['41', '# Draining a router\n\nMove the traffic first, then take the link down.'],
  ['42', '# Rolling back\n\nEvery step that changes something has a way back.'],
])
const comments = new Map()
let lastComment = 0

const text = (words) => ({ content: [{ type: 'text', text: words }] })
const pageId = z.union([z.string(), z.number()])

const server = new McpServer({ name: 'docs', version: '1.0.0' })

server.registerTool(
  'comment_on_page',
  {
    description: 'Leaves a comment on a page.',
    inputSchema: { page_id: pageId, comment: z.string() },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  },
  ({ page_id, comment }) => {
    if (!pages.has(String(page_id))) return { ...text(`There is no page ${page_id}`), isError: true }
    const id = `c${++lastComment}`
    comments.set(id, { page: String(page_id), comment })
    return { ...text(`Commented on page ${page_id} as ${id}`), structuredContent: { comment_id: id } }
  },
)

server.registerTool(
  'remove_comment',
  {
    description: 'Removes a comment; removing it twice changes nothing.',
    inputSchema: { comment_id: z.string() },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  },
  ({ comment_id }) => text(comments.delete(comment_id) ? `Removed ${comment_id}` : `${comment_id} was gone`),
)

server.registerTool(
  'list_comments',
  { description: 'The comments there are.', annotations: { readOnlyHint: true } },
  () => ({
    ...text([...comments.values()].map(({ page, comment }) => `${page}: ${comment}`).join('\n')),
    structuredContent: { comments: [...comments].map(([id, one]) => ({ id, ...one })) },
  }),
)

server.registerResource(
  'page',
  new ResourceTemplate('docs://pages/{id}', { list: undefined }),
  { description: 'A page by its number.', mimeType: 'text/markdown' },
  (uri, { id }) => {
    const page = pages.get(String(id))
    if (page === undefined) throw new Error(`There is no page ${id}`)
    return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: page }] }
  },
)

await server.connect(new StdioServerTransport())
