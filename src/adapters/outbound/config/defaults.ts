/** The configuration without YAML and environment, keys as in YAML (spec 5.3, ruling 11). */
export const DEFAULTS = {
  openai: { api_key_env: 'OPENAI_API_KEY', base_url: 'https://api.openai.com/v1', store: false },
  request: { timeout_ms: 300_000, max_retries: 3, max_concurrency: 16 },
  model_profiles: { answer: { model: 'gpt-5.2', reasoning_effort: 'medium', verbosity: 'medium' } },
  policy: { max_citations: 3, system: { source: 'builtin', merge: 'replace' } },
  search: { defaults: { recency_days: 60, max_results: 5, domains: [] }, domain_filter: 'hint' },
  llm: { adapter: 'openai' },
  server: { debug: false, show_config_on_start: false, max_answer_chars: 20_000, tool_errors: 'protocol' },
  http: {
    listen: '127.0.0.1:3917',
    path: '/mcp',
    allowed_hosts: [],
    allowed_origins: [],
    drain_ms: 25_000,
    max_body_bytes: 4 * 1024 * 1024,
    max_connections: 1000,
    max_calls_per_token: 64,
  },
};
