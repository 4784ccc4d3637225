import { type ReactNode, useState } from 'react';
import type { Api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useAction } from './use-action.ts';
import '../../../components/notice.css';

interface HeldWorkProps {
  /** The removals or repairs that wait for a confirmation, with the time since when and the reason. */
  children: ReactNode;
  /** The path of the request that confirms them, below `/v1/`. Without `update` on it, there is no button. */
  path: string;
  /** The label of the button that asks. */
  button: string;
  question: { title: string; action: string; isDangerous?: boolean; text: ReactNode };
  confirm(api: Api): Promise<unknown>;
}

/** Work that waits for the operator's confirmation, and the button that confirms it after a question. */
export function HeldWork({ children, path, button, question, confirm }: HeldWorkProps) {
  const { may } = usePermissions([path]);
  const [asks, setAsks] = useState(false);
  const confirmation = useAction(confirm, () => setAsks(false));
  const { text, ...asked } = question;
  return (
    <div className="notice notice-bad" role="status">
      {children}
      {may('update', path) && <Button onPress={() => setAsks(true)}>{button}</Button>}
      {asks && (
        <ConfirmDialog {...asked} {...runs(confirmation)} onCancel={() => setAsks(false)}>
          {text}
        </ConfirmDialog>
      )}
    </div>
  );
}
