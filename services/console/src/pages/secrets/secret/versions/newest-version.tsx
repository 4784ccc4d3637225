import { useState } from 'react';
import { Button } from '../../../../components/button.tsx';
import { ProblemNotice } from '../../../../components/problem-notice.tsx';
import { usePermissions } from '../../../../session/permissions.ts';
import { useApi } from '../../../../session/session.ts';
import { useSubmission } from '../../../../session/use-submission.ts';
import { readValues, type SecretRef } from '../../queries.ts';
import type { SecretPaths } from '../secret-paths.ts';
import { useReveal } from './reveal.ts';
import { RevealCell } from './reveal-cell.tsx';

/** The keys of the newest version, for a token that may read it but not the metadata. */
export function NewestVersion({ secret, paths }: { secret: SecretRef; paths: SecretPaths }) {
  const api = useApi();
  const { may } = usePermissions([paths.data]);
  const [keys, setKeys] = useState<readonly string[]>();
  const { isPending, error, run } = useSubmission();
  const reveal = useReveal(secret);
  if (!may('read', paths.data)) return null;
  return (
    <section aria-label="Newest version">
      <h2>Newest version</h2>
      <Button
        isPending={isPending}
        onPress={() => run(async () => setKeys(Object.keys(await readValues(api, secret))))}
      >
        Show the keys
      </Button>
      {error !== undefined && <ProblemNotice title="The secret could not be read." error={error} />}
      {keys?.length === 0 && <p className="empty">There is no readable version.</p>}
      <ul className="plain-list">
        {keys?.map((key) => (
          <li key={key} className="row">
            <strong>{key}</strong>
            <RevealCell name={key} version={undefined} reveal={reveal} />
          </li>
        ))}
      </ul>
    </section>
  );
}
