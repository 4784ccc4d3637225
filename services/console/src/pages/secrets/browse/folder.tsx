import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../../components/button.tsx';
import { TextField } from '../../../components/fields/text-field.tsx';
import { NameList } from '../../../components/lists/name-list.tsx';
import { PageButtons, usePages } from '../../../components/lists/pages.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { Breadcrumbs } from '../breadcrumbs.tsx';
import { nextName, useFolder } from '../queries.ts';
import { folderHref, secretHref } from '../secret-links.ts';
import { PathForm } from './path-form.tsx';

interface FolderProps {
  mount: string;
  /** Empty, or ends with a slash. */
  folder: string;
}

/** The secrets and folders in a folder, and a form for another secret. */
export function Folder({ mount, folder }: FolderProps) {
  const path = `${mount}/metadata/${folder}`;
  const { may, known } = usePermissions([path]);
  return (
    <>
      <Breadcrumbs mount={mount} name={folder.replace(/\/$/, '')} />
      <PageHeader title={`${mount}/${folder}`}>Secrets and folders.</PageHeader>
      {may('list', path) && <Names mount={mount} folder={folder} />}
      {known && !may('list', path) && (
        <NotAllowed
          what="This token may not list this folder. It may have rights below it: enter a path to open it."
          capability="list"
          path={path}
        />
      )}
      <NewSecret mount={mount} folder={folder} />
      <PathForm />
    </>
  );
}

function Names({ mount, folder }: FolderProps) {
  const pages = usePages<string>();
  const { data, error, refetch } = useFolder({ mount, folder, after: pages.after }, true);
  if (error) return <ProblemNotice title="The folder could not be read." error={error} onRetry={refetch} />;
  if (data === undefined) return <Loading what="the folder" />;
  const hrefOf = (name: string) =>
    name.endsWith('/') ? folderHref(mount, folder + name) : secretHref({ mount, name: folder + name });
  return (
    <>
      <NameList
        label={`Content of ${mount}/${folder}`}
        names={data}
        row={(name) => <Link href={hrefOf(name)}>{name}</Link>}
        empty="Nothing here yet."
      />
      <PageButtons pages={pages} next={nextName(data)} />
    </>
  );
}

function NewSecret({ mount, folder }: FolderProps) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    navigate(secretHref({ mount, name: folder + name.trim().replace(/^\/+|\/+$/g, '') }));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h2>New secret</h2>
      <div className="path-form">
        <TextField label={`Name in ${mount}/${folder}`} value={name} onChange={setName} isRequired />
        <Button type="submit">Continue</Button>
      </div>
    </form>
  );
}
