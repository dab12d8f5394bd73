package agent

# Files may be read when their name ends as the workflow's data says. Everything else is denied.
default allow = false

allow if {
  input.tool == "fs.read"
  some ending in data.endings
  endswith(input.args.path, ending)
}
