/** The text of `--help`. */
export const USAGE = `openai-responses-mcp: answers with sources, from OpenAI's Responses API and web search, over MCP

Usage:
  openai-responses-mcp --stdio [options]            serve MCP over standard input and output
  openai-responses-mcp --http [host:port] [options] serve MCP, REST and a page over HTTP (default: 127.0.0.1:3917)
  openai-responses-mcp ask [options] "question"     answer one question; "-" or a pipe: read it from standard input
  openai-responses-mcp doctor [options]             check configuration, servers, key, network, models and a search
  openai-responses-mcp tools [options]              start the configured MCP servers and list their tools
  openai-responses-mcp call <server> <tool> [input] call a tool; input: a JSON object, @file, or "-" for standard input
  openai-responses-mcp --show-config [options]      print the effective configuration as JSON to stderr

Options:
  --config <path>     YAML file (default: ~/.config/openai-responses-mcp/config.yaml, if it exists)
  --offline[=path]    answer from recordings, without key or network: those of the package, of a folder, or one file
  --record=<folder>   save API responses in this folder for later use with --offline=<folder>
  --servers=<path>    also use the MCP servers in this JSON file of another MCP client (mcpServers)
  --expose            offer the tools of the MCP servers over MCP, too
  --debug[=file]      log debug output to stderr, and to the file
  --help, --version

Options of ask, doctor and tools:
  --json              print the result as JSON
Options of ask:
  --tool <name>       answer (default), answer_detailed or answer_quick
  --verbose           print token usage, searches and time to stderr

The API key is read from OPENAI_API_KEY, or from the file that OPENAI_API_KEY_FILE names. doctor asks the API one
short question, which costs a little. More: https://github.com/uchimanajet7/openai-responses-mcp#readme
`;
