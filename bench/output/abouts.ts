/** Descriptions of the benchmarks that report figures, in the order in which they are run and shown. */
export const abouts = {
  peer: 'logins, writes and reads next to OpenBao on the same cores; memory and start of `npm start`',
  kv: 'reads and writes of secrets, compared with a bare skeleton',
  lists: 'reading with 1,000 to 1,000,000 associations',
  idle: 'CPU, memory and start of idle services with 1,000 to 1,000,000 associations',
  revocation: 'revoking and deleting 1,000 and 100,000 tokens',
  tenants: 'reads of one tenant, next to what another one does with tokens and policies',
  hostile: 'reads next to requests that cost their sender little',
  login: 'logins with a JWT, compared with a bare skeleton',
  sync: "delay of a write, and new values per second, compared with the provider's client in a loop",
  drift:
    'calls and rows written to look at unchanged secrets, how soon a change is noticed, and what looks cost writes',
  rules: 'how soon what a rule matches is outside, and what rules cost other writes and destinations',
  fairness: 'what a destination in trouble costs the others, and the budget of an account',
  backlog: 'what a long queue costs, and how fast it drains',
  standalone: 'delay of a write in one process, next to a destination in trouble',
} as const;

export type BenchmarkName = keyof typeof abouts;
