import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { useApi } from '../../../session/session.ts';
import { useSubmission } from '../../../session/use-submission.ts';
import { resolvePath } from '../queries.ts';
import { folderHref, secretHref } from '../secret-links.ts';

/** Opens a path that the user types: a token may have rights in folders that it cannot find by listing. */
export function PathForm() {
  const api = useApi();
  const [, navigate] = useLocation();
  const [path, setPath] = useState('');
  const { isPending, error, run } = useSubmission();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(async () => {
      const { mount, name } = await resolvePath(api, path);
      navigate(name === '' || name.endsWith('/') ? folderHref(mount, name) : secretHref({ mount, name }));
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <div className="path-form">
        <TextField
          label="Open a path"
          value={path}
          onChange={setPath}
          isRequired
          placeholder="secret/shop/"
        />
        <Button type="submit" isPending={isPending}>
          Open
        </Button>
      </div>
      <p className="soft">The mount and a name in it. A folder ends with a slash.</p>
      {error !== undefined && (
        <ProblemNotice title="There is no such mount, or this token has no right in it." error={error} />
      )}
    </form>
  );
}
