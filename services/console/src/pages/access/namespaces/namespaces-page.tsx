import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf, ifPresent } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi, useSession } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { KeyList, pageSize } from '../key-list.tsx';
import { OpenForm } from '../open-form.tsx';

const listPath = 'sys/namespaces';
/** Stands for the path that will be entered. */
const examplePath = 'sys/namespaces/team';

/** The namespaces below this one: to enter, to create and to delete. */
export function NamespacesPage() {
  const { api, namespace, changeNamespace } = useSession();
  const [removed, setRemoved] = useState<string>();
  const { may } = usePermissions([examplePath]);
  const read = async (after: string) => {
    const query = { list: 'true', after, limit: pageSize } as const;
    const answer = await ifPresent(api.GET('/v1/sys/namespaces', { params: { query } }));
    return answer === undefined ? [] : dataOf(answer).keys.map((key) => key.replace(/\/$/, ''));
  };
  return (
    <>
      <AccessNav />
      <PageHeader title="Namespaces">Below {namespace || 'the root namespace'}.</PageHeader>
      <KeyList
        what="namespaces"
        path={listPath}
        read={read}
        row={(name) => (
          <span className="row">
            <strong>{name}</strong>
            <Button
              aria-label={`Enter ${name}`}
              onPress={() => changeNamespace([namespace, name].filter(Boolean).join('/'))}
            >
              Enter
            </Button>
            {may('delete', examplePath) && (
              <Button aria-label={`Delete ${name}`} onPress={() => setRemoved(name)}>
                Delete
              </Button>
            )}
          </span>
        )}
      />
      {may('create', examplePath) && <NewNamespace />}
      {removed !== undefined && <DeleteDialog name={removed} onClose={() => setRemoved(undefined)} />}
    </>
  );
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['access', listPath] });
}

function NewNamespace() {
  const api = useApi();
  const refresh = useRefresh();
  const create = useMutation({
    mutationFn: (path: string) =>
      api.POST('/v1/sys/namespaces/{path}', { params: { path: { path } }, body: {} }),
    onSuccess: refresh,
  });
  return (
    <section aria-label="New namespace">
      <h2>New namespace</h2>
      <OpenForm
        key={String(create.isSuccess && create.variables)}
        label="Name of the namespace"
        help="It has mounts, policies, tokens and destinations of its own."
        action="Create the namespace"
        onOpen={(path) => create.mutate(path)}
      />
      {create.error && <ProblemNotice title="The namespace was not created." error={create.error} />}
    </section>
  );
}

function DeleteDialog({ name, onClose }: { name: string; onClose(): void }) {
  const api = useApi();
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/sys/namespaces/{path}', { params: { path: { path: name } } }),
    onSuccess: async () => {
      await refresh();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Delete the namespace ${name}?`}
      action="Delete"
      isDangerous
      {...runs(remove)}
      onCancel={onClose}
    >
      <p>
        Its policies and tokens are deleted with it. While it contains namespaces, auth mounts, mounts,
        destinations or code-host applications, this is refused and changes nothing.
      </p>
    </ConfirmDialog>
  );
}
