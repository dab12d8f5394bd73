/** What an empty editor offers to begin from: two steps, of which the second is held for a person. */
export const exampleText = `{
  "wf_id": "first-workflow",
  "description": "Says hello, and writes it down once somebody has read it",
  "policy": { "roots": [{ "path": "notes", "access": "write" }] },
  "nodes": [
    {
      "id": "greet",
      "label": "Write the greeting",
      "hitl_required": false,
      "action": { "type": "template_render", "template": "Hello, {{name}}.\\n", "input_from": "trigger" }
    },
    {
      "id": "save",
      "label": "Save it",
      "reversible": true,
      "hitl_required": true,
      "hitl": { "role": "operator", "reason": "This writes a file." },
      "action": { "type": "write_file", "path": "notes/hello.txt", "content_from": "greet.rendered" }
    }
  ],
  "edges": [{ "from": "greet", "to": "save" }]
}
`
