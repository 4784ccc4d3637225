import type { Caller } from '@secrets/caller';
import { Problem, permissionDenied } from '@secrets/domain';
import { httpStatus } from '@secrets/http';
import type { Context } from '../context.ts';

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
  const asked = secrets.map(
    (secret) => ({ path, capability: 'update', body: { ...secret, ...more } }) as const,
  );
  const permitted = await policies.mayDoEach(caller, asked);
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

async function resultOf<Done>({ mount, secret_name }: NamedSecret, work: () => Promise<Done>) {
  try {
    const done = await work();
    return { result: { mount, secret_name, status: 200, errors: [] }, done };
  } catch (error) {
    const status = error instanceof Problem ? httpStatus[error.kind] : 500;
    if (!(error instanceof Problem) || status >= 500) throw error;
    return { result: { mount, secret_name, status, errors: error.sentences } };
  }
}

/** The sentence that warns of refused secrets; undefined if there are none. */
export function warningOf(results: readonly SecretResult[]): string | undefined {
  const refused = results.filter(({ status }) => status >= 400).length;
  return refused === 0 ? undefined : `${refused} of ${results.length} secrets were refused; see their errors`;
}
