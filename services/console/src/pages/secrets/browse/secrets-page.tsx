import { useSearchParams } from 'wouter';
import { PageHeader } from '../../../components/page-header.tsx';
import { Folder } from './folder.tsx';
import { Mounts } from './mounts.tsx';
import { PathForm } from './path-form.tsx';

/** The mounts or, with `mount` in the address, a folder in one. */
export function SecretsPage() {
  const [params] = useSearchParams();
  const mount = params.get('mount');
  const folder = params.get('folder') ?? '';
  if (mount !== null && mount !== '')
    return <Folder key={`${mount} ${folder}`} mount={mount} folder={folder} />;
  return (
    <>
      <PageHeader title="Secrets">Mounts in which this token has any right.</PageHeader>
      <PathForm />
      <Mounts />
    </>
  );
}
