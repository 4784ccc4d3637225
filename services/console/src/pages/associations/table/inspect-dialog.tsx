import { useEffect } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { dataOf } from '../../../api/client.ts';
import { textOf } from '../../../api/optional.ts';
import { Button } from '../../../components/button.tsx';
import { Drift } from '../../../components/inline/drift.tsx';
import { Loading } from '../../../components/loading.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useAction } from '../../destinations/actions/use-action.ts';
import type { DestinationRef } from '../../destinations/destination-api.ts';
import type { AssociatedSecret, SecretRef } from '../association-api.ts';
import '../../../components/dialog.css';
import '../../destinations/destinations.css';

interface InspectDialogProps {
  destination: DestinationRef;
  secret: SecretRef;
  onClose(): void;
}

/** Has the external secrets of an association looked at, and shows what was found. */
export function InspectDialog({ destination, secret, onClose }: InspectDialogProps) {
  const inspection = useInspection(destination, secret);
  const { mutate, data } = inspection;
  useEffect(() => mutate(), [mutate]);
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onClose()}>
      <Modal className="modal">
        <Dialog className="dialog">
          <Heading slot="title">
            Inspection of {secret.mount}/{secret.secret_name}
          </Heading>
          {inspection.isPending && <Loading what="what is in the store, which takes up to 20 s" />}
          {inspection.error && <ProblemNotice title="Nothing was looked at." error={inspection.error} />}
          {data && <Found {...data} />}
          <div className="dialog-actions">
            <Button isDisabled={inspection.isPending} onPress={() => mutate()}>
              Inspect again
            </Button>
            <Button kind="primary" onPress={onClose}>
              Close
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
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
