/** How a client starts the server. Every link, command and example in the documents starts it in this way. */
export const SERVER = {
  name: 'openai-responses',
  command: 'npx',
  args: ['-y', 'openai-responses-mcp@latest', '--stdio'],
  env: { OPENAI_API_KEY: 'sk-...', MODEL_PROFILES: 'tuned', MCP_TOOL_ERRORS: 'result' },
};

/** Longer than `request.timeout_ms`, so that the server, not the client, ends a call. */
const CALL_LIMIT_S = 330;

/** The generated parts of the documents, by name. */
export function installParts() {
  const links = Object.entries(installLinks()).map(([client, url]) => ({ client, label: labelOf(client), url }));
  return {
    'install-links': links.map(({ client, label }) => `[${client}][${label}]`).join(' · '),
    'install-commands': Object.entries(installCommands())
      .map(([client, command]) => `**${client}**\n\n\`\`\`sh\n${command}\n\`\`\``)
      .join('\n\n'),
    // Separate from the links, because URLs are long.
    'install-urls': links.map(({ label, url }) => `[${label}]: ${url}`).join('\n'),
  };
}

/** Links that install the server, by client. GitHub removes other schemes than https. */
function installLinks({ name, command, args, env } = SERVER) {
  const config = { command, args, env };
  const query = (link) => encodeURIComponent(typeof link === 'string' ? link : JSON.stringify(link));
  const base64 = Buffer.from(JSON.stringify(config)).toString('base64');
  const key = { type: 'promptString', id: 'openai-key', description: 'OpenAI API key', password: true };
  const asking = { type: 'stdio', ...config, env: { ...env, OPENAI_API_KEY: `\${input:${key.id}}` } };
  const vscode = `https://insiders.vscode.dev/redirect/mcp/install?name=${name}&config=${query(asking)}&inputs=${query([key])}`;
  return {
    'VS Code': vscode,
    'VS Code Insiders': `${vscode}&quality=insiders`,
    'Visual Studio': `https://aka.ms/vs/mcp-install?${query({ name, ...config })}`,
    Cursor: `https://cursor.com/en/install-mcp?name=${name}&config=${query(base64)}`,
    'LM Studio': `https://lmstudio.ai/install-mcp?name=${name}&config=${query(base64)}`,
    Kiro: `https://kiro.dev/launch/mcp/add?name=${name}&config=${query(config)}`,
    Goose: gooseLink({ name, command, args }),
  };
}

/** Goose asks for the value of every variable, so that only the key is one. */
function gooseLink({ name, command, args }) {
  const values = [
    ['cmd', command],
    ...args.map((arg) => ['arg', arg]),
    ['id', name],
    ['name', name],
    ['description', 'Web answers with their sources'],
    ['timeout', String(CALL_LIMIT_S)],
    ['env', 'OPENAI_API_KEY=OpenAI API key'],
  ];
  const query = values.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  return `https://block.github.io/goose/extension?${query}`;
}

/** Commands that install the server, by client. */
function installCommands({ name, command, args, env } = SERVER) {
  const variables = (option) =>
    Object.entries(env)
      .map(([key, value]) => `${option} ${key}=${value}`)
      .join(' ');
  const start = [command, ...args].join(' ');
  const limit = `--timeout ${CALL_LIMIT_S * 1000}`;
  return {
    'Claude Code': `claude mcp add --scope user ${name} ${variables('-e')} -- ${start}`,
    Codex: `codex mcp add ${name} ${variables('--env')} -- ${start}`,
    'Gemini CLI': `gemini mcp add -s user ${limit} ${variables('-e')} ${name} ${command} -- ${args.join(' ')}`,
    'Copilot CLI': `copilot mcp add ${name} ${limit} ${variables('--env')} -- ${start}`,
  };
}

function labelOf(client) {
  return `install-${client.toLowerCase().replaceAll(' ', '-')}`;
}
