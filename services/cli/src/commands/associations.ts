import { type Context, destinationPath, type Verdict } from '../command.ts';

/** The secrets that a command names, of one mount. */
export interface Secrets {
  mount: string;
  names: readonly string[];
}

/** The result of one secret of a list. */
interface Result {
  mount: string;
  secret_name: string;
  status: number;
  errors: string[];
  sync_status?: string | null;
  accepted?: boolean;
  /** The rules that still hold what was removed. */
  held_by_rules?: string[];
  problems?: string[];
  external_secrets?: { sub_key: string; external_name: string; change: string; problems: string[] }[];
}

/** The number of secrets that the service takes in one request. */
const maxInRequest = { set: 1_000, remove: 1_000, plan: 100 };

/** Sends the secrets in parts, says how far it is if there are several, and returns their results. */
async function* inParts(
  { api, output }: Context,
  verb: keyof typeof maxInRequest,
  destination: string,
  { secrets: { mount, names }, ...options }: { secrets: Secrets },
): AsyncGenerator<Result[]> {
  const path = `${destinationPath(destination)}/associations/${verb}`;
  const size = maxInRequest[verb];
  for (let from = 0; from < names.length; from += size) {
    const part = names.slice(from, from + size);
    const secrets = part.map((name) => ({ mount, secret_name: name }));
    const { data } = await api.call<{ results: Result[] }>('POST', path, { secrets, ...options });
    if (names.length > size) output.note(`${from + part.length} of ${names.length}`);
    yield data.results;
  }
}

const columns = [
  { title: 'SECRET', of: ({ mount, secret_name: secret }: Result) => `${mount}/${secret}` },
  {
    title: 'STATUS',
    of: ({ sync_status: status, errors }: Result) => status ?? (errors.length > 0 ? 'refused' : ''),
  },
  { title: 'ERROR', of: ({ errors }: Result) => errors.join('; ') },
];

const hasFailed = ({ status, sync_status: reached }: Result): boolean =>
  status >= 300 || (reached?.endsWith('_ERROR') ?? false);

/** Associates secrets with a destination, or removes them from it. False if one was refused, or failed. */
export async function change(
  context: Context,
  verb: 'set' | 'remove',
  destination: string,
  request: { secrets: Secrets; overwrite?: boolean; keep?: boolean },
): Promise<Verdict> {
  let failed = 0;
  for await (const results of inParts(context, verb, destination, request)) {
    context.output.rows(results, columns);
    for (const result of results) noteHolders(context, result);
    failed += results.filter(hasFailed).length;
  }
  if (failed > 0) context.output.note(`${failed} of ${request.secrets.names.length} have failed`);
  return failed === 0;
}

function noteHolders(
  { output }: Context,
  { mount, secret_name: secret, held_by_rules: rules }: Result,
): void {
  if (rules === undefined) return;
  output.note(
    `${mount}/${secret} stays associated by the ${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`,
  );
}

/** Prints which external secrets a set would create, change or refuse. False if something would be refused. */
export async function plan(
  context: Context,
  destination: string,
  { secrets, look }: { secrets: Secrets; look: boolean },
): Promise<Verdict> {
  let isFine = true;
  const parts = look
    ? looked(context, destination, secrets)
    : inParts(context, 'plan', destination, { secrets });
  for await (const results of parts) {
    isFine &&= results.every(({ status, accepted }) => status < 300 && accepted === true);
    if (context.output.format === 'json') context.output.rows(results, []);
    else
      context.output.rows(results.flatMap(plannedRows), [
        { title: 'SECRET', of: ({ secret }) => secret },
        { title: 'SUB-KEY', of: ({ subKey }) => subKey },
        { title: 'EXTERNAL NAME', of: ({ name }) => name },
        { title: 'CHANGE', of: ({ change: planned }) => planned },
        { title: 'PROBLEM', of: ({ problem }) => problem },
      ]);
  }
  return isFine;
}

/** Plans with a look at the store, which the service makes for one secret at a time. */
async function* looked(
  { api }: Context,
  destination: string,
  { mount, names }: Secrets,
): AsyncGenerator<Result[]> {
  for (const name of names) {
    const body = { mount, secret_name: name, look: true };
    const { data } = await api.call<Result>(
      'POST',
      `${destinationPath(destination)}/associations/plan`,
      body,
    );
    yield [{ ...data, status: 200, errors: [] }];
  }
}

function plannedRows({ mount, secret_name, errors, problems = [], external_secrets = [] }: Result) {
  const secret = `${mount}/${secret_name}`;
  const own = [...errors, ...problems].map((problem) => ({
    secret,
    subKey: '',
    name: '',
    change: 'refused',
    problem,
  }));
  const planned = external_secrets.map((one) => ({
    secret,
    subKey: one.sub_key,
    name: one.external_name,
    change: one.problems.length > 0 ? 'refused' : one.change,
    problem: one.problems.join('; '),
  }));
  return [...own, ...planned];
}
