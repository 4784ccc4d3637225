import { Fault } from '@secrets/domain';
import type { Variable } from '../api/schema.ts';
import { markedBy } from './ownership.ts';
import { writtenBytes } from './remembered.ts';
import type { Store } from './store.ts';

/** https://vercel.com/docs/environment-variables#environment-variable-size */
const maxDeploymentBytes = 65_536;

/**
 * Returns the variables with the sizes of the values that this installation has written: the provider shows neither those
 * of encrypted nor of sensitive ones. A size counts for the record that it was written to, whoever has marked it.
 */
export async function withWrittenSizes(
  { remembered, owner }: Pick<Store, 'remembered' | 'owner'>,
  variables: readonly Variable[],
): Promise<Variable[]> {
  const unknown = variables.filter(({ knownBytes }) => knownBytes === 0);
  const names = unknown.map((variable) => ({
    destinationId: markedBy(owner, variable) ?? owner.destinationId,
    externalName: variable.key,
  }));
  const bytes = new Map((await remembered(names)).flatMap(({ remote }) => writtenBytes(remote)));
  return variables.map((variable) => ({
    ...variable,
    knownBytes: variable.knownBytes || (bytes.get(variable.id) ?? 0),
  }));
}

/**
 * Throws `Fault` `full` if the variables of a deployment exceed the provider's limit with this value: the deployment
 * would fail. Counts the names of all variables, and the sizes that are known.
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
