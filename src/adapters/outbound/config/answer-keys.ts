import { CITATION_CHECKS } from '../../../domain/answers/citation.ts';
import { PARAMETERS } from '../../../domain/answers/model-profile.ts';
import { integer, milliseconds, oneOf, path, text } from './kinds.ts';
import { prices } from './money-kinds.ts';
import { key, type Section } from './table.ts';
import * as kinds from './value-kinds.ts';

/** The keys of a profile. Only the profile `answer` has variables and defaults. */
const PROFILE = {
  model: key(
    'the model that answers; parameters that it does not accept are left out ([S44](../spec.md#answers))',
    text('a model ID, such as gpt-5.2', /^[\w.:/-]+$/),
  ),
  reasoning_effort: key(
    'how much the model reasons: most of the time of a simple question',
    oneOf(PARAMETERS.reasoningEffort.values),
  ),
  verbosity: key('how long answers are', oneOf(PARAMETERS.verbosity.values)),
  max_output_tokens: key('output limit of the model, including reasoning; a low limit cuts answers off', integer(16), {
    absent: "the API's",
  }),
  max_tool_calls: key('searches and opened pages per answer', integer(1), { absent: "the API's" }),
  search_context_size: key(
    'how much text of the pages goes to the model; `high` leaves fewer gaps and costs more',
    oneOf(PARAMETERS.searchContextSize.values),
    {
      absent: "the API's",
    },
  ),
  search: key(
    'with `required`, an answer without a search fails, as does every grounded answer with `grounding.web: never`',
    oneOf(['auto', 'required']),
    { absent: '`auto`' },
  ),
  service_tier: key('the service tier of the API; `flex` is cheaper and slower', oneOf(PARAMETERS.serviceTier.values), {
    absent: 'of the account',
  }),
  reasoning_mode: key('the reasoning mode of the model', oneOf(PARAMETERS.reasoningMode.values), {
    absent: 'of the model',
  }),
  return_token_budget: key('how much text of pages the model gets', oneOf(PARAMETERS.returnTokenBudget.values), {
    absent: "the API's",
  }),
};

/** The keys of answers. */
export const ANSWER_KEYS = {
  openai: {
    api_key_env: key('the variable that contains the API key; never the key itself', kinds.secretVariable, {
      default: 'OPENAI_API_KEY',
    }),
    base_url: key(
      'the address of the API, or of a compatible server ([list](answers.md#other-servers))',
      kinds.baseUrl,
      { default: 'https://api.openai.com/v1', variable: 'OPENAI_BASE_URL' },
    ),
    organization: key('sent as a header', kinds.headerText('an organization ID, such as org-...'), {
      variable: 'OPENAI_ORG_ID',
    }),
    project: key('sent as a header', kinds.headerText('a project ID, such as proj_...'), {
      variable: 'OPENAI_PROJECT_ID',
    }),
    store: key('whether OpenAI stores responses for later retrieval', kinds.flag, { default: false }),
  },
  request: {
    timeout_ms: key(
      'limit of a complete call, including retries and waits ([of clients](../clients.md#time-limits))',
      milliseconds(1),
      {
        default: 300_000,
        variable: 'OPENAI_API_TIMEOUT',
      },
    ),
    max_retries: key(
      'attempts after the first, for 429, 5xx and failed connections ([S43](../spec.md#answers))',
      integer(0),
      {
        default: 3,
        variable: 'OPENAI_MAX_RETRIES',
      },
    ),
    max_concurrency: key('calls that run at the API at a time; others wait, and callers take turns', integer(1), {
      default: 16,
      variable: 'OPENAI_MAX_CONCURRENCY',
    }),
    background: key(
      'a response continues at OpenAI if the connection breaks, and is kept there for about ten minutes, also with `store: false`',
      kinds.flag,
      { default: false },
    ),
  },
  long_answers: {
    /** If the list is empty, no answer may take minutes. */
    tools: key(
      'the tools whose searches continue after a client stops waiting ([how](answers.md#answers-that-take-minutes))',
      kinds.answerTools,
      { default: [], variable: 'LONG_ANSWERS' },
    ),
    keep_ms: key('how long the same question of a caller gets the same response', milliseconds(1), {
      default: 3_600_000,
    }),
  },
  model_profiles: {
    preset: key(
      'makes `answer_quick` quick and `answer_detailed` detailed ([profiles](#profiles-for-each-tool))',
      oneOf(['tuned']),
      {
        variable: 'MODEL_PROFILES',
      },
    ),
    answer: {
      ...PROFILE,
      model: { ...PROFILE.model, default: 'gpt-5.2', variable: 'MODEL_ANSWER' },
      reasoning_effort: { ...PROFILE.reasoning_effort, default: 'medium', variable: 'ANSWER_EFFORT' },
      verbosity: { ...PROFILE.verbosity, default: 'medium', variable: 'ANSWER_VERBOSITY' },
      search: { ...PROFILE.search, default: 'auto' },
    },
    answer_detailed: PROFILE,
    answer_quick: PROFILE,
  },
  prices: key('prices of models, for the [cost of an answer](#what-an-answer-costs)', prices, {
    default: {},
    absent: "OpenAI's list prices",
  }),
  policy: {
    max_citations: key('maximum number of citations', integer(1, 10), { default: 3, variable: 'MAX_CITATIONS' }),
    system: {
      source: key(
        'the built-in system policy, or a file ([how](answers.md#the-system-policy))',
        oneOf(['builtin', 'file']),
        {
          default: 'builtin',
        },
      ),
      path: key('the file of the system policy; required with source `file`, otherwise not allowed', path('a path')),
      merge: key(
        'whether the file replaces, precedes or follows the built-in text',
        oneOf(['replace', 'prepend', 'append']),
        { default: 'replace' },
      ),
    },
  },
  search: {
    defaults: {
      recency_days: key('default hint: prefer sources at most this many days old', integer(0), {
        default: 60,
        variable: 'SEARCH_RECENCY_DAYS',
      }),
      max_results: key('default hint: about how many sources to use', integer(1), {
        default: 5,
        variable: 'SEARCH_MAX_RESULTS',
      }),
      domains: key('default hint: sites to prefer', kinds.hostNames, { default: [] }),
    },
    domain_filter: key(
      'whether domains are preferred (`hint`), or the only ones that the API searches (`strict`)',
      oneOf(['hint', 'strict']),
      { default: 'hint' },
    ),
    blocked_domains: key('hosts that are never searched or cited, with their subdomains', kinds.hostNames, {
      default: [],
    }),
    live: key('with `false`, only the cached index is searched, and nothing is fetched', kinds.flag, { default: true }),
    tool: key(
      'the type of the search tool, for servers that name it otherwise',
      text('the type of the search tool, such as web_search', /^[\w:.-]+$/),
      { default: 'web_search' },
    ),
    user_location: {
      country: key(
        'approximate location, for local results',
        text('a country as two letters, such as JP', /^[A-Za-z]{2}$/),
      ),
      region: key('approximate location, for local results', text('a region, such as Tokyo')),
      city: key('approximate location, for local results', text('a city, such as Minato')),
      timezone: key(
        'approximate location, for local results',
        text('an IANA time zone, such as Asia/Tokyo', /^\w[\w+/-]*$/),
      ),
    },
  },
  clock: {
    time_zone: key('the zone of dates; `system` is the zone of this machine', kinds.timeZone, {
      default: 'Asia/Tokyo',
      variable: 'TIME_ZONE',
    }),
  },
  citations: {
    resolve_dates: key(
      'read the date of publication from each cited page, which the program then fetches ([security](../security.md#answers))',
      kinds.flag,
      { default: false, variable: 'RESOLVE_DATES' },
    ),
    check: key(
      'check cited pages, which the program then fetches: `links` marks dead ones, `evidence` also compares pages with the answer ([how](answers.md#checked-citations))',
      oneOf(CITATION_CHECKS),
      { default: 'off', variable: 'CHECK_CITATIONS', option: '--check' },
    ),
    tool: key(
      'offer the tool `check_sources`, which fetches the pages of a text ([check](../check.md#for-agents-and-programs))',
      kinds.flag,
      { default: false },
    ),
    rest: key('serve `POST /mcp/check`, which fetches the pages of a text', kinds.flag, { default: false }),
  },
  llm: {
    adapter: key('ask the API, or answer from recordings', oneOf(['openai', 'offline']), {
      default: 'openai',
      variable: 'LLM_ADAPTER',
    }),
    recordings: key(
      'where `offline` reads recordings',
      path('the path of a folder of recordings, or of one .json or .sse file'),
      { absent: 'the shipped recordings', variable: 'LLM_RECORDINGS', option: '--offline' },
    ),
    record: key('where to save API responses; not while offline', path('the path of a folder'), {
      variable: 'LLM_RECORD',
      option: '--record',
    }),
    record_private: key('also record answers that use own tools', kinds.flag, { default: false }),
  },
} satisfies Section;
