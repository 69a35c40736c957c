import type { CLIENT_KEYS } from './client-keys.ts';
import type { References } from './references.ts';

/** A program whose files with servers are read. A new one is one such value. */
export interface Client {
  readonly title: string;
  /** The ends of the paths of its files. In a project, a folder with a dot is in the folder of the project. */
  readonly files: readonly string[];
  /** The ends of the paths of its files in the home folder that belong to no project. */
  readonly userFiles?: readonly string[];
  /** Where its servers are, as names of members, which may also be one name with dots; `[]`: at the top level. If two have one name, that of the later place counts. */
  readonly servers: readonly (readonly string[])[];
  /** The keys of a server that it documents. All others that are known are read, too. */
  readonly keys: readonly (keyof typeof CLIENT_KEYS)[];
  /** How its texts refer to variables; default: `dollar`. */
  readonly references?: References['form'];
  /** Whether `${command:NAME}` with one word is a command of its own. */
  readonly hasCommands?: true;
  /** Where the names of servers are that are switched off, or the only ones that are used. */
  readonly lists?: { readonly excluded: readonly string[]; readonly allowed: readonly string[] };
  /** The greatest `timeout` that is in seconds, as its settings offer it; default: 999, because no limit is meant to be some milliseconds. */
  readonly secondsUpTo?: number;
  /** The words for folders that its servers also get as variables. */
  readonly variables?: readonly string[];
}

const CHILD = ['command', 'args', 'env'] as const;
const REMOTE = ['url', 'headers'] as const;
const CLAUDE_CODE = ['type', ...CHILD, ...REMOTE, 'timeout', 'headersHelper', 'oauth', 'alwaysLoad'] as const;
const MCP_SERVERS = ['mcpServers'];

/** The clients. Where a file could be of several, the earlier one counts. */
export const CLIENTS: readonly Client[] = [
  {
    title: 'Claude Code',
    files: ['.mcp.json', '.claude.json'],
    servers: [MCP_SERVERS],
    keys: CLAUDE_CODE,
    variables: ['CLAUDE_PROJECT_DIR'],
  },
  {
    title: 'a plugin of Claude Code',
    files: ['.mcp.json', '.claude-plugin/plugin.json'],
    servers: [[]],
    keys: [...CLAUDE_CODE, 'cwd'],
    variables: ['CLAUDE_PROJECT_DIR', 'CLAUDE_PLUGIN_ROOT'],
  },
  {
    title: 'Claude Desktop',
    files: ['claude_desktop_config.json'],
    userFiles: ['Claude/claude_desktop_config.json'],
    servers: [MCP_SERVERS],
    keys: CHILD,
    references: 'none',
  },
  {
    title: 'Cursor',
    files: ['.cursor/mcp.json'],
    servers: [MCP_SERVERS],
    keys: ['type', ...CHILD, 'envFile', ...REMOTE, 'auth'],
  },
  {
    title: 'VS Code',
    files: [
      '.vscode/mcp.json',
      '.vscode/settings.json',
      '.vs/mcp.json',
      '.mcp.json',
      '.devcontainer/devcontainer.json',
      '.devcontainer.json',
    ],
    userFiles: [
      'Code/User/mcp.json',
      'Code - Insiders/User/mcp.json',
      'VSCodium/User/mcp.json',
      'Code/User/settings.json',
    ],
    servers: [['customizations', 'vscode', 'mcp', 'servers'], ['mcp', 'servers'], ['servers']],
    hasCommands: true,
    keys: [
      'type',
      ...CHILD,
      'cwd',
      'envFile',
      ...REMOTE,
      'oauth',
      'dev',
      'sandboxEnabled',
      'sandbox',
      'gallery',
      'version',
    ],
  },
  {
    title: 'Gemini CLI',
    files: ['.gemini/settings.json', 'gemini-extension.json'],
    servers: [MCP_SERVERS],
    keys: [
      'type',
      ...CHILD,
      'cwd',
      ...REMOTE,
      'httpUrl',
      'timeout',
      'includeTools',
      'excludeTools',
      'trust',
      'description',
      'oauth',
      'authProviderType',
      'targetAudience',
      'targetServiceAccount',
    ],
    references: 'bare',
    lists: { excluded: ['mcp', 'excluded'], allowed: ['mcp', 'allowed'] },
  },
  {
    title: 'opencode',
    files: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
    userFiles: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
    servers: [['mcp'], ['mcp', 'servers']],
    keys: ['type', 'command', 'environment', 'cwd', ...REMOTE, 'enabled', 'disabled', 'timeout', 'oauth'],
    references: 'braces',
  },
  {
    title: 'Codex',
    files: ['.codex/config.toml'],
    servers: [['mcp_servers']],
    keys: [
      ...CHILD,
      'env_vars',
      'cwd',
      'url',
      'bearer_token_env_var',
      'http_headers',
      'env_http_headers',
      'enabled',
      'required',
      'startup_timeout_sec',
      'startup_timeout_ms',
      'tool_timeout_sec',
      'enabled_tools',
      'disabled_tools',
      'scopes',
      'oauth',
      'oauth_resource',
      'tools',
      'default_tools_approval_mode',
      'supports_parallel_tool_calls',
      'experimental_environment',
      'name',
    ],
    references: 'none',
  },
  {
    title: 'Windsurf',
    files: ['mcp_config.json'],
    userFiles: ['.codeium/windsurf/mcp_config.json', '.codeium/mcp_config.json', '.config/devin/mcp_config.json'],
    servers: [MCP_SERVERS],
    keys: [...CHILD, ...REMOTE, 'serverUrl', 'disabled', 'disabledTools', 'alwaysAllow'],
  },
  {
    title: 'Roo',
    files: ['.roo/mcp.json', 'mcp_settings.json'],
    userFiles: ['settings/mcp_settings.json'],
    servers: [MCP_SERVERS],
    keys: ['type', ...CHILD, 'cwd', ...REMOTE, 'disabled', 'timeout', 'alwaysAllow', 'disabledTools', 'watchPaths'],
    secondsUpTo: 3600,
  },
  {
    title: 'Cline',
    files: ['cline_mcp_settings.json'],
    userFiles: ['settings/cline_mcp_settings.json'],
    servers: [MCP_SERVERS],
    keys: ['type', 'transportType', ...CHILD, 'cwd', ...REMOTE, 'disabled', 'timeout', 'autoApprove'],
    references: 'env',
    secondsUpTo: 3600,
  },
  {
    title: 'Kiro',
    files: ['.kiro/settings/mcp.json'],
    servers: [MCP_SERVERS],
    keys: [...CHILD, ...REMOTE, 'disabled', 'autoApprove', 'disabledTools', 'timeout', 'oauth'],
  },
  {
    title: 'Copilot CLI',
    files: ['.copilot/mcp-config.json'],
    servers: [MCP_SERVERS],
    keys: ['type', ...CHILD, 'cwd', ...REMOTE, 'tools', 'timeout'],
  },
  {
    title: 'JetBrains Junie',
    files: ['.junie/mcp/mcp.json'],
    servers: [MCP_SERVERS],
    keys: [...CHILD, ...REMOTE],
  },
  {
    title: 'Zed',
    files: ['.zed/settings.json'],
    userFiles: ['.config/zed/settings.json'],
    servers: [['context_servers']],
    keys: [...CHILD, ...REMOTE, 'enabled', 'timeout', 'source', 'settings'],
    references: 'none',
  },
  {
    title: 'Amp',
    files: ['.amp/settings.json'],
    userFiles: ['.config/amp/settings.json'],
    servers: [['amp', 'mcpServers']],
    keys: [...CHILD, ...REMOTE, 'includeTools'],
  },
];
