import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { folderHref } from '../secret-links.ts';

/** Stands for the path that will be entered. */
const examplePath = 'sys/mounts/secret';

/** Creates a mount, if the token may. */
export function NewMount() {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [path, setPath] = useState('');
  const { may } = usePermissions([examplePath]);
  const create = useMutation({
    mutationFn: () =>
      api.POST('/v1/sys/mounts/{path}', {
        params: { path: { path } },
        body: { type: 'kv', options: { version: '2' } },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['secrets', 'mounts'] });
      navigate(folderHref(path));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  if (!may('create', examplePath) && !may('update', examplePath)) return null;
  return (
    <form className="stack" onSubmit={submit}>
      <h2>New mount</h2>
      <div className="path-form">
        <TextField label="Path of the mount" value={path} onChange={setPath} isRequired />
        <Button type="submit" isPending={create.isPending}>
          Create the mount
        </Button>
      </div>
      {create.error && <ProblemNotice title="The mount was not created." error={create.error} />}
    </form>
  );
}
