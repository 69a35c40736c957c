/** The text of `--help`, at most 80 columns wide. */
export const USAGE = `openai-responses-mcp: answers with sources over MCP, from OpenAI's Responses API
and web search, and a gateway to your own MCP servers

Usage: openai-responses-mcp <command or mode> [options]

Modes:
  --stdio                 serve MCP over standard input and output
  --http [host:port]      serve MCP, REST and a page (default: 127.0.0.1:3917)
Commands:
  ask "question"          answer one question; "-" or a pipe: read it from
                          standard input
  check [file | URL | -]  check the sources of a text: whether the linked pages
                          exist, and contain the figures of the sentences that
                          cite them
  doctor                  check everything that an answer needs; asks the API
                          one question (with grounding.tools, two), which
                          costs a little
  tools [server [tool]]   list the tools of your MCP servers, or of one server,
                          or the parameters of one tool
  call <server> <tool> [input]
                          call a tool; input: a JSON object, @file or "-"
  login <server>          sign in to a remote MCP server that requires it
  logins                  list the logins to MCP servers
  logout <server>         revoke and delete a login
  token <caller>          create a token for a caller over HTTP, and its line in
                          the file http.token_file
  help, version           the same as --help, --version
  --show-config           print the effective configuration as JSON to stderr

Options:
  --config <path>         YAML file (default, if it exists:
                          ~/.config/openai-responses-mcp/config.yaml)
  --offline[=path]        answer from recordings, without key and network: those
                          of the package, of a folder, or one file; with doctor:
                          send no request and start no server, for CI
  --record=<folder>       save API responses for --offline=<folder>
  --servers=<path>        also use the MCP servers in the JSON file of another
                          client (mcpServers)
  --expose[=search|auto]  offer the tools of the MCP servers over MCP, too;
                          search: through tools that find and call them; auto:
                          only for callers who have more than 40 tools
  --debug[=file]          log debug output to stderr, and to the file
Options of commands:
  --json                  print JSON (ask, check, doctor, tools, call,
                          logins)
  --tool <name>           answer (default), answer_detailed, answer_quick (ask)
  --fresh                 ask every server, even if its tools are known (tools)
  --lock                  approve all tools in the file of gateway.lock (tools)
  --diff                  compare the tools with that file (tools)
  --verbose               also print the duration, model and usage (ask)
  --no-browser            only print the URL at which to sign in (login)
  --check                 compare the answer with the pages it cites (ask)

Examples:
  openai-responses-mcp ask "Who won the last Nobel Prize in Physics?"
  openai-responses-mcp ask --offline "What does HTTP 404 mean?"
  openai-responses-mcp --http --config config.yaml

The API key is read from OPENAI_API_KEY, or from the file that
OPENAI_API_KEY_FILE names.
Exit codes: 0 success, 1 failure, 2 bad usage, 130 interrupted.
More: https://github.com/uchimanajet7/openai-responses-mcp#readme
`;

export const CHECK_USAGE = 'check needs a text: openai-responses-mcp check <file | URL | ->';

export const TOKEN_USAGE =
  'token needs a caller, of letters, digits, _ . @ and -, other than local: openai-responses-mcp token <caller>';

export const CALL_USAGE =
  "call needs a server, a tool and an input: openai-responses-mcp call <server> <tool> ['{...}' | @file | -]";
