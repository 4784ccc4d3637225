import { useState } from 'react';

/** The state of a form that is not part of a session, whose cache would keep what was sent. */
export function useSubmission() {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (submit: () => Promise<void>) => {
    setPending(true);
    setError(undefined);
    submit()
      .catch(setError)
      .finally(() => setPending(false));
  };
  return { isPending, error, run };
}
