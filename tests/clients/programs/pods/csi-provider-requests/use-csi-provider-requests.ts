import { expect } from '@jest/globals';
import { CommandProcess } from '../command-process.ts';
import type { Pods } from '../pods.ts';

/** A mount of a volume with objects of a SecretProviderClass, for `main.go`. */
interface Mount {
  objects: {
    objectName: string;
    secretPath: string;
    secretKey?: string;
    method?: string;
    secretArgs?: object;
  }[];
}

/** Mounts volumes of several pods as the provider of the CSI driver does, through a revocation and a restart of the service. */
export async function useCsiProviderRequests(program: string, pods: Pods): Promise<void> {
  const provider = new CommandProcess<Mount>(program, pods.env);
  const { MOUNT } = pods.env;
  const db = `${MOUNT}/data/shop/db`;
  const key = { objectName: 'user', secretPath: db, secretKey: 'user' };
  const user = async () => (await provider.result({ objects: [key] })) as { user: string };
  try {
    await pods.setUser('a');
    const whole = { objectName: 'all', secretPath: db };
    const version = { objectName: 'first', secretPath: `${db}?version=1`, secretKey: 'user' };
    const files = (await provider.result({ objects: [key, whole, version] })) as Record<string, string>;
    expect([files.user, files.first]).toEqual(['a', 'a']);
    expect(JSON.parse(files.all!)).toMatchObject({ data: { data: { user: 'a' }, metadata: { version: 1 } } });
    await pods.setUser('b');
    expect(await user()).toEqual({ user: 'b' });
    const secretPath = `${MOUNT}/data/team/made`;
    const secretArgs = { data: { made: 'by a mount' } };
    await provider.result({ objects: [{ objectName: 'made', secretPath, method: 'POST', secretArgs }] });
    const made = { objectName: 'made', secretPath, secretKey: 'made' };
    expect(await provider.result({ objects: [made] })).toEqual({ made: 'by a mount' });
    const { error } = await provider.outcome({ objects: [{ objectName: 'x', secretPath: 'other/data/db' }] });
    expect(error).toContain('403');
    await pods.revokeTokens();
    expect(await user()).toEqual({ user: 'b' });
    await pods.restart();
    await pods.setUser('c');
    expect(await user()).toEqual({ user: 'c' });
  } finally {
    await provider.end();
  }
}
