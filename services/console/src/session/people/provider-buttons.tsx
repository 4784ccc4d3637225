import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { beginSignIn } from './begin-sign-in.ts';
import { explainFailure } from './explain-failure.ts';
import { FailureNotice } from './failure-notice.tsx';
import type { ProviderMount } from './sign-in-store.ts';

interface ProviderButtonsProps {
  mounts: readonly ProviderMount[];
  /** Where the user returns to. */
  returnTo: string;
}

/** A button for each provider. The browser leaves for the provider in the same window. */
export function ProviderButtons({ mounts, returnTo }: ProviderButtonsProps) {
  const [pending, setPending] = useState<string>();
  const [failure, setFailure] = useState<unknown>();
  const leave = (provider: ProviderMount) => {
    setPending(provider.mount);
    setFailure(undefined);
    beginSignIn(provider, { returnTo, isSilent: false }).catch((error: unknown) => {
      setFailure(error);
      setPending(undefined);
    });
  };
  return (
    <div className="stack">
      {failure !== undefined && <FailureNotice {...explainFailure(failure)} />}
      {mounts.map((provider) => (
        <Button
          key={provider.mount}
          kind="primary"
          isPending={pending === provider.mount}
          onPress={() => leave(provider)}
        >
          Sign in with {provider.label}
        </Button>
      ))}
    </div>
  );
}
