import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { dataOf, ifPresent } from '../api/client.ts';
import { Button } from '../components/button.tsx';
import { TextField } from '../components/fields/text-field.tsx';
import { usePermissions } from '../session/permissions.ts';
import { useSession } from '../session/session.ts';
import '../components/dialog.css';

const listPath = 'sys/namespaces';

/** Shows the namespace in which everything happens, and changes it. */
export function NamespaceSwitch() {
  const { namespace } = useSession();
  return (
    <DialogTrigger>
      <Button>
        <span>
          Namespace: <strong>{namespace || 'root'}</strong>
        </span>
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            <NamespaceForm />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function NamespaceForm() {
  const { namespace, changeNamespace } = useSession();
  const [wanted, setWanted] = useState(namespace);
  const children = useChildren();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    changeNamespace(wanted.replace(/^\/+|\/+$/g, ''));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Heading slot="title">Change the namespace</Heading>
      <TextField
        label="Path of the namespace"
        help="Such as team/payments; empty for the root namespace. The same token is used, so it must be valid there."
        value={wanted}
        onChange={setWanted}
        autoFocus
      />
      {children.length > 0 && (
        <div>
          <p>Below {namespace || 'root'}:</p>
          <div className="row">
            {children.map((path) => (
              <Button key={path} onPress={() => changeNamespace(path)}>
                {path}
              </Button>
            ))}
          </div>
        </div>
      )}
      <div className="dialog-actions">
        <Button slot="close">Cancel</Button>
        <Button type="submit" kind="primary">
          Change
        </Button>
      </div>
    </form>
  );
}

/** The first namespaces below this one that the token may list, with their full paths. */
function useChildren(): string[] {
  const { api, namespace } = useSession();
  const { may } = usePermissions([listPath]);
  const { data = [] } = useQuery({
    queryKey: ['namespaces', 'children'],
    queryFn: async () => {
      const query = { list: 'true' as const, limit: 50 };
      const answer = await ifPresent(api.GET('/v1/sys/namespaces', { params: { query } }));
      return answer === undefined ? [] : dataOf(answer).keys;
    },
    enabled: may('list', listPath),
  });
  return data.map((key) => [namespace, key.replace(/\/$/, '')].filter(Boolean).join('/'));
}
