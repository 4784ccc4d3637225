import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const version = '26.4.5';
const sha256 = '74fed80ab67607c86995824ad4b965f53cca0a706e2aeded45e173d3ccb0b24d';
const folder = fileURLToPath(new URL('../../node_modules/.cache/keycloak/', import.meta.url));
const archive = join(folder, `keycloak-quarkus-dist-${version}.tar.gz`);

/** The goal of Maven that fetches one file, with the settings of this machine. */
const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/** Downloads Keycloak, unless it is there, and returns its folder. It needs Maven; to run it, Java 17 or newer. */
export function installKeycloak(): string {
  const program = join(folder, `keycloak-${version}`);
  if (existsSync(join(program, 'bin', 'kc.sh'))) return program;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:tar.gz`;
  execFileSync('mvn', ['-q', '-B', copy, artifact, `-DoutputDirectory=${folder}`], { stdio: 'inherit' });
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (digest !== sha256) throw new Error(`${archive} is not the pinned file: its SHA-256 is ${digest}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  rmSync(archive);
  return program;
}
