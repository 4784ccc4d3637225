import { type Context, destinationPath, type Verdict } from '../command.ts';

interface Association {
  mount: string;
  secret_name: string;
  sub_key: string;
  external_name: string;
  sync_status: string;
  drift: string | null;
}

/** Looks at what a store holds: at the external secrets of one secret, or in the background at all of the destination. */
export async function inspect(
  { api, output }: Context,
  destination: string,
  secret?: { mount: string; name: string },
): Promise<Verdict> {
  const body = secret === undefined ? {} : { mount: secret.mount, secret_name: secret.name };
  const { data } = await api.call<{ associated_secrets?: Record<string, Association> }>(
    'POST',
    `${destinationPath(destination)}/inspect`,
    body,
  );
  if (data.associated_secrets === undefined) {
    output.object(data, `everything in ${destination} is being looked at: see the status`);
    return true;
  }
  const found = Object.values(data.associated_secrets);
  output.rows(found, [
    { title: 'EXTERNAL NAME', of: (one) => one.external_name },
    { title: 'SUB-KEY', of: (one) => one.sub_key },
    { title: 'STATUS', of: (one) => one.sync_status },
    { title: 'DRIFT', of: (one) => one.drift },
  ]);
  return found.every(({ drift }) => drift === null || drift === 'none');
}

interface Line {
  external_name: string;
  path: string | null;
  result: string;
  reason: string | null;
}

interface ImportState {
  id?: string;
  dry_run: boolean;
  state?: string;
  error?: string | null;
  counts?: Record<string, number>;
  external_secrets: Line[];
  next?: string;
}

/** Fields of the request, as the API has them. */
export interface ImportFields {
  mount: string;
  names?: readonly string[];
  match?: string;
  path?: string;
  on_conflict?: string;
  dry_run: boolean;
}

const lineColumns = [
  { title: 'EXTERNAL NAME', of: (line: Line) => line.external_name },
  { title: 'PATH', of: (line: Line) => line.path },
  { title: 'RESULT', of: (line: Line) => line.result },
  { title: 'REASON', of: (line: Line) => line.reason },
];

const pollMs = 500;

/** Imports external secrets, or shows what an import would do. False if one was not imported. */
export async function importSecrets(
  context: Context,
  destination: string,
  fields: ImportFields,
): Promise<Verdict> {
  const { api, output, sleep } = context;
  const path = `${destinationPath(destination)}/import`;
  const began = await api.call<ImportState>('POST', path, fields);
  for (const warning of began.warnings) output.note(warning);
  if (fields.dry_run) return printDryRun(context, path, fields, began.data);
  let said = '';
  for (;;) {
    const { data } = await api.call<ImportState>('GET', path);
    const counts = Object.entries(data.counts ?? {}).map(([result, count]) => `${count} ${result}`);
    const progress = `${data.state}: ${counts.join(', ') || 'nothing yet'}`;
    if (progress !== said) output.note(progress);
    said = progress;
    if (data.state !== 'running') return printLines(context, path, data);
    await sleep(pollMs);
  }
}

async function printDryRun(
  { api, output }: Context,
  path: string,
  fields: ImportFields,
  first: ImportState,
): Promise<Verdict> {
  let isFine = true;
  for (let page = first; ; ) {
    output.rows(page.external_secrets, lineColumns);
    isFine &&= page.external_secrets.every(({ result }) => !isRefusal(result));
    if (page.next === undefined) return isFine;
    page = (await api.call<ImportState>('POST', path, { ...fields, after: page.next })).data;
  }
}

async function printLines({ api, output }: Context, path: string, first: ImportState): Promise<Verdict> {
  let isFine = first.state === 'done';
  if (first.error) output.note(first.error);
  for (let page = first; ; ) {
    output.rows(page.external_secrets, lineColumns);
    isFine &&= page.external_secrets.every(({ result }) => !isRefusal(result));
    if (page.next === undefined) return isFine;
    page = (await api.call<ImportState>('GET', `${path}?after=${encodeURIComponent(page.next)}`)).data;
  }
}

/** Results after which an external secret was not taken, or cannot be. */
const refusals = ['unreadable', 'absent', 'not_permitted', 'name_not_possible', 'refused', 'failed'];
const isRefusal = (result: string): boolean => refusals.includes(result);
