import { useEffect, useState } from 'react';
import { createApi, dataOf } from '../../api/client.ts';
import type { ProviderMount } from './sign-in-store.ts';

interface Listed {
  namespace: string;
  mounts: readonly ProviderMount[];
  /** Whether the service has not said which there are. */
  failed: boolean;
}

const typingMs = 300;

/** Returns the mounts of a namespace at which people can sign in with a browser; undefined until they are known. */
export function useListedMounts(namespace: string): Listed | undefined {
  const [listed, setListed] = useState<Listed>();
  useEffect(() => {
    let isCurrent = true;
    const read = async () => {
      const found = await readMounts(namespace).then(
        (mounts) => ({ namespace, mounts, failed: false }),
        () => ({ namespace, mounts: [], failed: true }),
      );
      if (isCurrent) setListed(found);
    };
    const timer = window.setTimeout(() => void read(), namespace === '' ? 0 : typingMs);
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, [namespace]);
  return listed?.namespace === namespace ? listed : undefined;
}

async function readMounts(namespace: string): Promise<ProviderMount[]> {
  const { auth } = dataOf(await createApi({ namespace }).GET('/v1/sys/internal/ui/mounts'));
  const mounts = Object.entries(auth as Record<string, { type: string; description: string }>);
  return mounts
    .filter(([, { type }]) => type === 'oidc')
    .map(([path, { description }]) => {
      const mount = path.replace(/\/$/, '');
      return { mount, namespace, label: description || mount };
    });
}
