import { ConfirmDialog } from '../../../../components/confirm-dialog.tsx';
import { count } from '../../../../components/inline/count.ts';
import type { SecretRef } from '../../queries.ts';
import { NameLines, ReceivingDestinations } from '../losing-destinations.tsx';
import type { KeyChanges } from './key-changes.ts';

interface ReviewDialogProps {
  secret: SecretRef;
  changes: KeyChanges;
  onConfirm(): void;
  onCancel(): void;
}

/** Names the keys that a write adds, changes and removes, without values, and the destinations that receive it, and asks. */
export function ReviewDialog({ secret, changes, onConfirm, onCancel }: ReviewDialogProps) {
  const { removed } = changes;
  return (
    <ConfirmDialog
      title={titleOf(secret, removed)}
      action="Write"
      isDangerous={removed?.length !== 0}
      isPending={false}
      onConfirm={onConfirm}
      onCancel={onCancel}
    >
      <Changes {...changes} />
      <ReceivingDestinations secret={secret} losing={losing(removed)} />
    </ConfirmDialog>
  );
}

function titleOf({ name }: SecretRef, removed: readonly string[] | undefined): string {
  if (removed === undefined) return `Replace all keys of ${name}?`;
  return removed.length === 0
    ? `Write a new version of ${name}?`
    : `Remove ${count(removed.length, 'key')} of ${name}?`;
}

function losing(removed: readonly string[] | undefined): string | undefined {
  if (removed === undefined) return 'the keys that you have not entered';
  if (removed.length === 0) return undefined;
  return removed.length === 1 ? 'the removed key' : 'the removed keys';
}

function Changes({ added, changed, written, removed, kept }: KeyChanges) {
  const changesNothing = [added, changed, written, removed ?? ['?']].every(({ length }) => length === 0);
  return (
    <section className="stack" aria-label="Changes">
      {changesNothing && <p>No key changes: the new version is equal to the one before.</p>}
      <ChangedKeys is="added" keys={added} />
      <ChangedKeys is="changed" keys={changed} />
      <ChangedKeys is="written, whether or not it differs" keys={written} />
      <ChangedKeys is="removed" keys={removed ?? []} />
      {removed === undefined && (
        <p>Every key that you have not entered is removed. This token may not see which ones there are.</p>
      )}
      {kept !== undefined && kept.length > 0 && (
        <p className="soft">{count(kept.length, 'key')} unchanged.</p>
      )}
    </section>
  );
}

const ChangedKeys = ({ is, keys }: { is: string; keys: readonly string[] }) =>
  keys.length > 0 && (
    <div>
      <p>
        <strong>{count(keys.length, 'key')}</strong> {is}:
      </p>
      <NameLines names={keys} />
    </div>
  );
