import { dataOf } from '../../../api/client.ts';
import { textOf } from '../../../api/optional.ts';
import { Drift } from '../../../components/inline/drift.tsx';
import { OutcomeDialog } from '../../../components/outcome-dialog.tsx';
import { useAction } from '../../destinations/actions/use-action.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { AssociatedSecret, SecretRef } from '../association-api.ts';
import '../../destinations/destinations.css';

interface InspectDialogProps {
  destination: DestinationRef;
  secret: SecretRef;
  onClose(): void;
}

/** Has the external secrets of an association looked at, and shows what was found. */
export function InspectDialog({ destination, secret, onClose }: InspectDialogProps) {
  return (
    <OutcomeDialog
      title={`Inspection of ${secret.mount}/${secret.secret_name}`}
      action={useInspection(destination, secret)}
      awaited="what is in the store, which takes up to 20 s"
      failed="Nothing was looked at."
      again="Inspect again"
      onClose={onClose}
    >
      {(found) => <Found {...found} />}
    </OutcomeDialog>
  );
}

interface Inspected {
  objects: readonly AssociatedSecret[];
  warnings: readonly string[];
}

function useInspection(path: DestinationRef, secret: SecretRef) {
  return useAction(async (api): Promise<Inspected> => {
    const answer = await api.POST('/v1/sys/sync/destinations/{type}/{name}/inspect', {
      params: { path },
      body: secret,
    });
    const warnings: unknown = answer.data?.warnings;
    return {
      objects: Object.values(dataOf(answer).associated_secrets),
      warnings: Array.isArray(warnings) ? warnings : [],
    };
  });
}

const Found = ({ objects, warnings }: Inspected) => (
  <div role="status" className="stack">
    {warnings.map((sentence) => (
      <p key={sentence}>{sentence}</p>
    ))}
    <ul className="steps">
      {objects.map((object) => (
        <li key={`${object.sub_key} ${object.external_name}`}>
          <code>{object.external_name}</code> <Drift seen={object} />
          {textOf(object.last_error) && <div>{textOf(object.last_error)}</div>}
        </li>
      ))}
    </ul>
  </div>
);
