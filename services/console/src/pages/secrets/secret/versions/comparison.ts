import { useState } from 'react';
import { useApi } from '../../../../session/session.ts';
import { useSubmission } from '../../../../session/use-submission.ts';
import { readValues, type SecretRef } from '../../queries.ts';
import { type Difference, differencesOf } from './version-state.ts';

/** Compares two versions when that is requested. Only which keys differ is kept. */
export function useComparison(secret: SecretRef, older: number, newer: number) {
  const api = useApi();
  const [differences, setDifferences] = useState<Record<string, Difference>>();
  const { isPending, error, run } = useSubmission();
  const compare = () =>
    run(async () => {
      const [one, other] = await Promise.all(
        [older, newer].map((version) => readValues(api, secret, version)),
      );
      setDifferences(differencesOf(one ?? {}, other ?? {}));
    });
  return { differences, compare, isPending, error };
}
