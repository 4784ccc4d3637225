import type { PrometheusApi } from './prometheus-api.ts';
import { dashboardQueries } from './sources.ts';

interface PanelData {
  panel: string;
  query: string;
  /** The numbers that the query returns at the moment. */
  values: number[];
}

/** Returns the result of each query of the dashboard, with rates over a minute. */
export const dashboardData = (prometheus: PrometheusApi): Promise<PanelData[]> =>
  Promise.all(
    dashboardQueries('1m').map(async ({ panel, query }) => {
      const samples = await prometheus.query(query);
      return { panel, query, values: samples.map(({ value }) => Number(value[1])).filter(Number.isFinite) };
    }),
  );
