import { Fault } from '@secrets/domain';
import type { Variable } from '../api/schema.ts';

/** https://vercel.com/docs/environment-variables#environment-variable-size */
const maxDeploymentBytes = 65_536;

/**
 * Throws `Fault` `too_large` if the variables of a deployment exceed the provider's limit with this value: the deployment would fail. Counts what the
 * provider shows: the names of all variables, but the sizes of plain values only. It shows neither those of encrypted nor of sensitive ones.
 */
export function requireRoom(
  variables: readonly Variable[],
  { name, bytes, environments }: { name: string; bytes: number; environments: readonly string[] },
): void {
  for (const environment of environments) {
    const others = variables.filter(
      ({ key, target, gitBranch }) => key !== name && !gitBranch && target.includes(environment),
    );
    const total = others.reduce((sum, other) => sum + sizeOf(other), Buffer.byteLength(name) + bytes);
    if (total <= maxDeploymentBytes) continue;
    throw new Fault(
      'too_large',
      `with this value of ${bytes} bytes, the variables for ${environment} have at least ${total} bytes; a deployment accepts at most ${maxDeploymentBytes}`,
    );
  }
}

const sizeOf = ({ key, knownBytes }: Variable): number => Buffer.byteLength(key) + knownBytes;
