import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** For `npx vite`: requests of the API go to the service that `npm start` runs. */
const service = 'http://127.0.0.1:8200';

export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  build: {
    // Every browser that has modules with `import()` also has `modulepreload`; no inline data, which the CSP refuses.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    license: { fileName: 'licenses.json' },
  },
  server: { proxy: { '/v1': service } },
});
