import type { Caller } from '@secrets/caller';
import { Problem, permissionDenied } from '@secrets/domain';
import { httpStatus } from '@secrets/http';
import type { Context } from '../../context.ts';
import { secretsAtOnce } from './associate-many.ts';
import type { SetOutcome } from './record-intents.ts';

/** A secret as a request names it. */
export interface NamedSecret {
  mount: string;
  secret_name: string;
}

/** The result for one secret of a list: the status and the errors that a request for it alone would have had. */
export interface SecretResult extends NamedSecret {
  status: number;
  errors: readonly string[];
}

/** The request of a list. */
interface ListRequest<Secret> {
  caller: Caller;
  /** Path of the request, without `v1/`. */
  path: string;
  secrets: readonly Secret[];
  /** Fields of the body that hold for all of them. */
  more: Readonly<Record<string, unknown>>;
}

/** Each may hold a connection of the pool, which other requests need, too. */
const atOnce = 4;

/**
 * Does something for each secret of a list, a few at a time. What one is refused is its result, and does not stop the others.
 * The caller's policies must permit the request for that secret alone: a rule about `mount` or `secret_name` would otherwise not
 * apply to lists. Results are in the order of the secrets.
 * @throws what is not a refusal, such as `unavailable`; what was done until then stays, and can be done again
 */
export async function forEachSecret<Secret extends NamedSecret, Done>(
  { policies }: Pick<Context, 'policies'>,
  { caller, path, secrets, more }: ListRequest<Secret>,
  work: (secret: Secret) => Promise<Done>,
): Promise<{ result: SecretResult; done?: Done }[]> {
  const permitted = await permittedOf(policies, { caller, path, secrets, more });
  const queue = [...secrets.entries()];
  const results: { result: SecretResult; done?: Done }[] = [];
  const workOnSome = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, secret] = next;
      results[at] = await resultOf(secret, () => {
        if (!permitted[at]) throw permissionDenied();
        return work(secret);
      }).catch((error: unknown) => {
        queue.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOnSome));
  return results;
}

/**
 * Does something for many secrets of one mount at a time, otherwise like `forEachSecret`. `work` returns for each of at most
 * `secretsAtOnce` names what was done, or why not.
 */
export async function forEachMount(
  { policies }: Pick<Context, 'policies'>,
  list: ListRequest<NamedSecret>,
  work: (mount: string, secretNames: readonly string[]) => Promise<SetOutcome[]>,
): Promise<{ result: SecretResult; done?: string }[]> {
  const permitted = await permittedOf(policies, list);
  const outcomes = list.secrets.map((): SetOutcome => ({ problem: permissionDenied() }));
  const places = list.secrets.map((_, at) => at).filter((at) => permitted[at]);
  for (const [mount, ofMount] of Map.groupBy(places, (at) => list.secrets[at]!.mount))
    for (let start = 0; start < ofMount.length; start += secretsAtOnce) {
      const part = ofMount.slice(start, start + secretsAtOnce);
      const found = await work(
        mount,
        part.map((at) => list.secrets[at]!.secret_name),
      );
      for (const [index, at] of part.entries()) outcomes[at] = unlessRefused(found[index]!);
    }
  return outcomes.map((outcome, at) => {
    const { mount, secret_name } = list.secrets[at]!;
    if ('id' in outcome) return { result: { mount, secret_name, ...accepted }, done: outcome.id };
    return { result: { mount, secret_name, ...refused(outcome.problem) } };
  });
}

/** Throws a problem that is no refusal. */
function unlessRefused(outcome: SetOutcome): SetOutcome {
  if ('problem' in outcome && httpStatus[outcome.problem.kind] >= 500) throw outcome.problem;
  return outcome;
}

const accepted = { status: 200, errors: [] as readonly string[] };
const refused = ({ kind, sentences }: Problem) => ({ status: httpStatus[kind], errors: sentences });

const permittedOf = (
  policies: Context['policies'],
  { caller, path, secrets, more }: ListRequest<NamedSecret>,
): Promise<boolean[]> =>
  policies.mayDoEach(
    caller,
    secrets.map((secret) => ({ path, capability: 'update', body: { ...secret, ...more } })),
  );

async function resultOf<Done>({ mount, secret_name }: NamedSecret, work: () => Promise<Done>) {
  try {
    const done = await work();
    return { result: { mount, secret_name, ...accepted }, done };
  } catch (error) {
    if (!(error instanceof Problem) || httpStatus[error.kind] >= 500) throw error;
    return { result: { mount, secret_name, ...refused(error) } };
  }
}

/** The sentence that warns of refused secrets; undefined if there are none. */
export function warningOf(results: readonly SecretResult[]): string | undefined {
  const refused = results.filter(({ status }) => status >= 400).length;
  return refused === 0 ? undefined : `${refused} of ${results.length} secrets were refused; see their errors`;
}
