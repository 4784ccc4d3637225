import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { dataOf } from '../../../api/client.ts';
import { NameList } from '../../../components/lists/name-list.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { useApi } from '../../../session/session.ts';
import { AccessNav } from '../access-nav.tsx';
import { OpenForm } from '../open-form.tsx';
import { mountHref } from './auth-links.ts';

/** The auth mounts in which the token has any right. */
export function AuthMountsPage() {
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['access', 'auth'],
    queryFn: async () => dataOf(await api.GET('/v1/sys/internal/ui/mounts')).auth,
  });
  return (
    <>
      <AccessNav />
      <PageHeader title="Auth mounts">
        Where workloads log in with the identity that their cloud gave them.
      </PageHeader>
      {error && <ProblemNotice title="The auth mounts could not be read." error={error} onRetry={refetch} />}
      {data === undefined && !error && <Loading what="the auth mounts" />}
      {data && <Mounts mounts={data as Record<string, { type: string; description: string }>} />}
      <NewMount />
    </>
  );
}

const Mounts = ({ mounts }: { mounts: Record<string, { type: string; description: string }> }) => (
  <NameList
    label="Auth mounts"
    names={Object.keys(mounts)}
    row={(path) => (
      <>
        <Link href={mountHref(path.replace(/\/$/, ''))}>{path}</Link>{' '}
        <span className="soft">
          {mounts[path]?.type} {mounts[path]?.description}
        </span>
      </>
    )}
    empty="There is no auth mount in which this token has a right."
  />
);

/** Stands for the path that will be entered. */
const examplePath = 'sys/auth/cloudB';

function NewMount() {
  const api = useApi();
  const queries = useQueryClient();
  const { may } = usePermissions([examplePath]);
  const create = useMutation({
    mutationFn: (path: string) =>
      api.POST('/v1/sys/auth/{path}', { params: { path: { path } }, body: { type: 'cloudB' } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['access', 'auth'] }),
  });
  if (!may('sudo', examplePath)) return null;
  return (
    <section aria-label="New auth mount">
      <h2>New auth mount</h2>
      <OpenForm
        label="Path of the auth mount"
        help="A mount of the type cloudB, such as cloudB."
        action="Create the auth mount"
        onOpen={(path) => create.mutate(path)}
      />
      {create.error && <ProblemNotice title="The auth mount was not created." error={create.error} />}
    </section>
  );
}
