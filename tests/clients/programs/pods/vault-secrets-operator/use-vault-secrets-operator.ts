import { eventually } from '../../../../harness/eventually.ts';
import { CommandProcess } from '../command-process.ts';
import type { Pods } from '../pods.ts';

/** A command of `main.go`: to create a VaultStaticSecret, and to read a secret or the events of the cluster. */
interface Command {
  do: 'follow' | 'secret' | 'events';
  name?: string;
  path?: string;
}

/** Milliseconds in which the operator must follow: it repeats what failed, and waits for up to two seconds after an event. */
const timeoutMs = 30_000;
const name = 'db';

/** Follows a secret by its events, through a revocation of the token and a restart of the service. */
export async function useVaultSecretsOperator(program: string, pods: Pods): Promise<void> {
  const operator = new CommandProcess<Command>(program, pods.env);
  const secret = async () => (await operator.result({ do: 'secret', name })) as { user?: string };
  const hasUser = (user: string) => eventually(secret, (data) => data.user === user, timeoutMs);
  const history: string[] = [];
  const events = async () => {
    const seen = ((await operator.result({ do: 'events' })) as string[] | null) ?? [];
    history.push(...seen);
    return seen;
  };
  const listens = () =>
    eventually(events, (seen) => seen.some((event) => event.startsWith('EventWatcherStarted')), timeoutMs);
  try {
    await pods.setUser('a');
    await operator.result({ do: 'follow', name, path: 'shop/db' });
    await hasUser('a');
    await listens();
    await pods.setUser('b');
    await hasUser('b');
    await pods.revokeTokens();
    await listens();
    await pods.setUser('c');
    await hasUser('c');
    await pods.restart();
    await listens();
    await pods.setUser('d');
    await hasUser('d');
  } catch (error) {
    throw new Error(`${error}; events in the cluster:\n${history.join('\n')}`);
  } finally {
    await operator.end();
  }
}
