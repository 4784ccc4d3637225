import { useState } from 'react';
import { Radio, RadioGroup } from 'react-aria-components';
import { useLocation } from 'wouter';
import { ApiProblem } from '../../../api/problem.ts';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { useAction } from './use-action.ts';
import '../../../components/fields/field.css';

type Way = 'empty' | 'purge' | 'keep' | 'force';

interface DeleteDialogProps {
  target: DestinationRef;
  onClose(): void;
}

/**
 * Deletes a destination. The first attempt deletes an empty one only; otherwise, the service says how many associations
 * there are, and the dialog asks what is to become of them.
 */
export function DeleteDialog({ target, onClose }: DeleteDialogProps) {
  const [way, setWay] = useState<Way>('empty');
  const [associations, setAssociations] = useState<string>();
  const [, navigate] = useLocation();
  const deletion = useAction(
    (api) =>
      api.DELETE('/v1/sys/sync/destinations/{type}/{name}', {
        params: { path: target, query: queryOf(way) },
      }),
    () => (way === 'purge' || way === 'keep' ? onClose() : navigate('/destinations')),
  );
  const confirm = () =>
    deletion.mutate(undefined, {
      onError: (error) => {
        if (!(error instanceof ApiProblem) || error.status !== 400) return;
        setAssociations(error.message);
        setWay('purge');
      },
    });
  return (
    <ConfirmDialog
      title={`Delete the destination ${target.name}?`}
      action={actions[way]}
      isDangerous
      isPending={deletion.isPending}
      error={associations === undefined || way !== 'empty' ? laterError(deletion.error) : undefined}
      onConfirm={confirm}
      onCancel={onClose}
    >
      {associations === undefined ? (
        <p>
          Its settings and credentials are deleted. If secrets are still associated with it, nothing is
          deleted: their number is shown, and you are asked what is to become of them.
        </p>
      ) : (
        <Ways sentence={associations} way={way} onChange={setWay} />
      )}
    </ConfirmDialog>
  );
}

const actions: Record<Way, string> = {
  empty: 'Delete',
  purge: 'Unsync everything and delete',
  keep: 'Release everything and delete',
  force: 'Delete and leave the external secrets',
};

const queryOf = (way: Way) => ({
  ...(way === 'purge' && { purge: true as const }),
  ...(way === 'keep' && { keep: true as const }),
  ...(way === 'force' && { force_delete: true as const }),
});

/** That there are associations is shown as the question that follows, not as a failure. */
const laterError = (error: unknown): unknown =>
  error instanceof ApiProblem && error.status === 400 ? undefined : error;

interface WaysProps {
  /** What the service said about the associations, with their number. */
  sentence: string;
  way: Way;
  onChange(way: Way): void;
}

const Ways = ({ sentence, way, onChange }: WaysProps) => (
  <>
    <p role="status">{sentence}</p>
    <RadioGroup
      className="field"
      aria-label="What is to become of the external secrets"
      value={way}
      onChange={(chosen) => onChange(chosen as Way)}
    >
      <Radio value="purge" className="radio">
        <strong>Purge:</strong> all of their external secrets are deleted from the store, in the background,
        and then the destination.
      </Radio>
      <Radio value="keep" className="radio">
        <strong>Keep:</strong> all of their external secrets stay in the store without the tags of this
        destination, and then the destination is deleted, in the background.
      </Radio>
      <Radio value="force" className="radio">
        <strong>Force:</strong> the destination and its associations are deleted at once. Their external
        secrets stay in the store, and nothing updates or removes them any more.
      </Radio>
    </RadioGroup>
  </>
);
