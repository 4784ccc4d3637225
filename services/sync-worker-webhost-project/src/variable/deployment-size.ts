import { Fault } from '@secrets/domain';
import type { Variable } from '../api/schema.ts';

/** https://vercel.com/docs/environment-variables#environment-variable-size */
const maxDeploymentBytes = 65_536;

/**
 * Throws `Fault` `full` if the variables of a deployment exceed the provider's limit with this value: the deployment
 * would fail. Counts what the provider shows: the names of all variables, but the sizes of plain values only. It shows
 * neither those of encrypted nor of sensitive ones.
 */
export function requireRoom(
  variables: readonly Variable[],
  {
    name,
    bytes,
    environments,
    gitBranch,
  }: { name: string; bytes: number; environments: readonly string[]; gitBranch: string },
): void {
  for (const environment of environments) {
    const others = variables.filter(
      (other) =>
        other.key !== name && ['', gitBranch].includes(other.gitBranch) && other.target.includes(environment),
    );
    const total = withoutReplaced(others).reduce(
      (sum, other) => sum + sizeOf(other),
      Buffer.byteLength(name) + bytes,
    );
    if (total <= maxDeploymentBytes) continue;
    throw new Fault(
      'full',
      `with this value of ${bytes} bytes, the variables for ${environment} have at least ${total} bytes; a deployment accepts at most ${maxDeploymentBytes}`,
    );
  }
}

const sizeOf = ({ key, knownBytes }: Variable): number => Buffer.byteLength(key) + knownBytes;

/** Without those that a record for a branch replaces. */
const withoutReplaced = (variables: readonly Variable[]): Variable[] =>
  variables.filter(
    ({ key, gitBranch }) =>
      gitBranch !== '' || !variables.some((other) => other.key === key && other.gitBranch !== ''),
  );
