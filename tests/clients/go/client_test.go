// Package clients makes calls of the Go client as its users make them. Each test has a mount of its own.
package clients

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"
)

var ctx = context.Background()

// client returns a client with the address and the root token of the environment.
func client(t *testing.T) *api.Client {
	t.Helper()
	c, err := api.NewClient(api.DefaultConfig())
	must(t, err)
	return c
}

// withToken returns a client with another token.
func withToken(t *testing.T, token string) *api.Client {
	c := client(t)
	c.SetToken(token)
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %#v, want %#v", got, want)
	}
}

func status(err error) int {
	var response *api.ResponseError
	if errors.As(err, &response) {
		return response.StatusCode
	}
	return 0
}

// mount enables a key-value store with a name that no other test uses.
func mount(t *testing.T, c *api.Client) string {
	t.Helper()
	name := strings.ToLower(fmt.Sprintf("%s%d", t.Name(), time.Now().UnixNano()))
	must(t, c.Sys().Mount(name, &api.MountInput{Type: "kv", Options: map[string]string{"version": "2"}}))
	return name
}

// limited returns a client whose token has only a policy with these rules, and its token.
func limited(t *testing.T, c *api.Client, name, rules string) *api.Client {
	t.Helper()
	must(t, c.Sys().PutPolicy(name, rules))
	secret, err := c.Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{name}, TTL: "1h"})
	must(t, err)
	return withToken(t, secret.Auth.ClientToken)
}

func TestWritesReadsAndPatchesSecrets(t *testing.T) {
	c := client(t)
	kv := c.KVv2(mount(t, c))
	written, err := kv.Put(ctx, "shop/db", map[string]any{"user": "a"})
	must(t, err)
	equal(t, written.VersionMetadata.Version, 1)
	_, err = kv.Put(ctx, "shop/db", map[string]any{"user": "b"}, api.WithCheckAndSet(1))
	must(t, err)
	_, err = kv.Put(ctx, "shop/db", map[string]any{"user": "c"}, api.WithCheckAndSet(1))
	equal(t, status(err), http.StatusBadRequest)
	read, err := kv.Get(ctx, "shop/db")
	must(t, err)
	equal(t, read.Data, map[string]any{"user": "b"})
	read, err = kv.GetVersion(ctx, "shop/db", 1)
	must(t, err)
	equal(t, read.Data, map[string]any{"user": "a"})
	_, err = kv.Patch(ctx, "shop/db", map[string]any{"port": "1"})
	must(t, err)
	_, err = kv.Patch(ctx, "shop/db", map[string]any{"port": "2"}, api.WithMergeMethod(api.KVMergeMethodReadWrite))
	must(t, err)
	_, err = kv.Rollback(ctx, "shop/db", 1)
	must(t, err)
	versions, err := kv.GetVersionsAsList(ctx, "shop/db")
	must(t, err)
	equal(t, len(versions), 5)
}

func TestAMissingSecretIsNotFound(t *testing.T) {
	c := client(t)
	kv := c.KVv2(mount(t, c))
	_, err := kv.Get(ctx, "missing")
	if !errors.Is(err, api.ErrSecretNotFound) {
		t.Fatal(err)
	}
	_, err = kv.Patch(ctx, "missing", map[string]any{"a": "b"})
	if err == nil {
		t.Fatal("patched a secret that does not exist")
	}
	secret, err := c.Logical().Read("missing/data/a")
	if err == nil && secret != nil {
		t.Fatal("read a mount that does not exist")
	}
}

func TestDeletesUndeletesAndDestroysVersions(t *testing.T) {
	c := client(t)
	kv := c.KVv2(mount(t, c))
	_, err := kv.Put(ctx, "a", map[string]any{"n": "1"})
	must(t, err)
	must(t, kv.Delete(ctx, "a"))
	// As with Vault, a deleted version is no error; it has no data.
	read, err := kv.Get(ctx, "a")
	must(t, err)
	equal(t, len(read.Data), 0)
	must(t, kv.Undelete(ctx, "a", []int{1}))
	must(t, kv.DeleteVersions(ctx, "a", []int{1}))
	must(t, kv.Undelete(ctx, "a", []int{1}))
	must(t, kv.Destroy(ctx, "a", []int{1}))
	metadata, err := kv.GetMetadata(ctx, "a")
	must(t, err)
	equal(t, metadata.Versions["1"].Destroyed, true)
	must(t, kv.DeleteMetadata(ctx, "a"))
	_, err = kv.GetMetadata(ctx, "a")
	if !errors.Is(err, api.ErrSecretNotFound) {
		t.Fatal(err)
	}
}

func TestChangesMetadata(t *testing.T) {
	c := client(t)
	kv := c.KVv2(mount(t, c))
	custom := map[string]any{"team": "shop"}
	must(t, kv.PutMetadata(ctx, "a", api.KVMetadataPutInput{MaxVersions: 5, CustomMetadata: custom, DeleteVersionAfter: time.Hour}))
	required := true
	must(t, kv.PatchMetadata(ctx, "a", api.KVMetadataPatchInput{CASRequired: &required, CustomMetadata: map[string]any{"tier": "1"}}))
	metadata, err := kv.GetMetadata(ctx, "a")
	must(t, err)
	equal(t, metadata.MaxVersions, 5)
	equal(t, metadata.CASRequired, true)
	equal(t, metadata.DeleteVersionAfter, time.Hour)
	equal(t, metadata.CustomMetadata, map[string]any{"team": "shop", "tier": "1"})
	_, err = kv.Put(ctx, "a", map[string]any{"n": "1"})
	equal(t, status(err), http.StatusBadRequest)
}

func TestReadsWritesListsAndDeletesAnyPath(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	_, err := c.Logical().Write(name+"/data/a", map[string]any{"data": map[string]any{"n": "1"}})
	must(t, err)
	_, err = c.Logical().JSONMergePatch(ctx, name+"/data/a", map[string]any{"data": map[string]any{"m": "2"}})
	must(t, err)
	secret, err := c.Logical().ReadWithData(name+"/data/a", map[string][]string{"version": {"2"}})
	must(t, err)
	equal(t, secret.Data["data"], map[string]any{"n": "1", "m": "2"})
	list, err := c.Logical().List(name + "/metadata")
	must(t, err)
	equal(t, list.Data["keys"], []any{"a"})
	_, err = c.Logical().Delete(name + "/metadata/a")
	must(t, err)
	secret, err = c.Logical().Read(name + "/data/a")
	must(t, err)
	if secret != nil {
		t.Fatal("the secret still exists")
	}
}

func TestALimitedTokenMayDoWhatItsPolicyAllows(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	_, err := c.KVv2(name).Put(ctx, "a", map[string]any{"n": "1"})
	must(t, err)
	user := limited(t, c, name, `path "`+name+`/data/*" { capabilities = ["read"] }`)
	_, err = user.KVv2(name).Get(ctx, "a")
	must(t, err)
	_, err = user.KVv2(name).Put(ctx, "a", map[string]any{"n": "2"})
	equal(t, status(err), http.StatusForbidden)
	_, err = user.Sys().ListPolicies()
	equal(t, status(err), http.StatusForbidden)
	capabilities, err := user.Sys().CapabilitiesSelf(name + "/data/a")
	must(t, err)
	equal(t, capabilities, []string{"read"})
	capabilities, err = c.Sys().Capabilities(user.Token(), name+"/data/a")
	must(t, err)
	equal(t, capabilities, []string{"read"})
}

func TestManagesMounts(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	mounts, err := c.Sys().ListMounts()
	must(t, err)
	equal(t, mounts[name+"/"].Options["version"], "2")
	description := "changed"
	must(t, c.Sys().TuneMount(name, api.MountConfigInput{Description: &description, DefaultLeaseTTL: "1h"}))
	_, err = c.Sys().MountConfig(name)
	must(t, err)
	output, err := c.Sys().GetMount(name)
	must(t, err)
	equal(t, output.Description, "changed")
	_, err = c.KVv2(name).Put(ctx, "a", map[string]any{"n": "1"})
	must(t, err)
	must(t, c.Sys().Remount(name, name+"-moved"))
	moved, err := c.KVv2(name+"-moved").Get(ctx, "a")
	must(t, err)
	equal(t, moved.Data, map[string]any{"n": "1"})
	must(t, c.Sys().Unmount(name+"-moved"))
}

func TestManagesAuthMounts(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	options := &api.EnableAuthOptions{Type: "azure", Description: "logins", Config: api.AuthConfigInput{DefaultLeaseTTL: "1h"}}
	must(t, c.Sys().EnableAuthWithOptions(name, options))
	mounts, err := c.Sys().ListAuth()
	must(t, err)
	equal(t, mounts[name+"/"].Description, "logins")
	equal(t, mounts["token/"].Type, "token")
	must(t, c.Sys().DisableAuth(name))
}

func TestManagesPolicies(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	rules := `path "` + name + `/data/*" { capabilities = ["read"] }`
	must(t, c.Sys().PutPolicy(name, rules))
	read, err := c.Sys().GetPolicy(name)
	must(t, err)
	equal(t, read, rules)
	names, err := c.Sys().ListPolicies()
	must(t, err)
	equal(t, slices.Contains(names, name), true)
	must(t, c.Sys().DeletePolicy(name))
	read, err = c.Sys().GetPolicy(name)
	must(t, err)
	equal(t, read, "")
}

func TestManagesTokens(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	user := limited(t, c, name, `path "`+name+`/data/*" { capabilities = ["read"] }`)
	own, err := user.Auth().Token().LookupSelf()
	must(t, err)
	equal(t, own.Data["id"], user.Token())
	accessor, err := own.TokenAccessor()
	must(t, err)
	_, err = c.Auth().Token().Lookup(user.Token())
	must(t, err)
	_, err = c.Auth().Token().LookupAccessor(accessor)
	must(t, err)
	renewed, err := user.Auth().Token().RenewSelf(7200)
	must(t, err)
	equal(t, renewed.Auth.ClientToken, user.Token())
	equal(t, renewed.Auth.LeaseDuration, 7200)
	_, err = c.Auth().Token().Renew(user.Token(), 3600)
	must(t, err)
	_, err = c.Auth().Token().RenewAccessor(accessor, 3600)
	must(t, err)
	must(t, c.Auth().Token().RevokeAccessor(accessor))
	_, err = user.Auth().Token().LookupSelf()
	equal(t, status(err), http.StatusForbidden)
	orphan, err := c.Auth().Token().CreateOrphan(&api.TokenCreateRequest{Policies: []string{"default"}, Period: "30m"})
	must(t, err)
	equal(t, orphan.Auth.Orphan, true)
	equal(t, orphan.Auth.LeaseDuration, 1800)
	must(t, c.Auth().Token().RevokeOrphan(orphan.Auth.ClientToken))
	batch, err := c.Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{"default"}, Type: "batch", TTL: "1h"})
	must(t, err)
	ttl, err := batch.TokenTTL()
	must(t, err)
	equal(t, ttl > 3590*time.Second, true)
}

func TestCreatesTokensThroughRoles(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	_, err := c.Logical().Write("auth/token/roles/"+name, map[string]any{"allowed_policies": "default", "token_period": "1h"})
	must(t, err)
	secret, err := c.Auth().Token().CreateWithRole(&api.TokenCreateRequest{Policies: []string{"default"}}, name)
	must(t, err)
	equal(t, secret.Auth.LeaseDuration, 3600)
}

func TestALifetimeWatcherRenewsAToken(t *testing.T) {
	c := client(t)
	renewable := true
	secret, err := c.Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{"default"}, TTL: "15s", Renewable: &renewable})
	must(t, err)
	user := withToken(t, secret.Auth.ClientToken)
	watcher, err := user.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: secret})
	must(t, err)
	go watcher.Start()
	defer watcher.Stop()
	for renewals := 0; renewals < 2; {
		select {
		case err := <-watcher.DoneCh():
			t.Fatalf("the watcher has ended: %v", err)
		case <-watcher.RenewCh():
			renewals++
		case <-time.After(60 * time.Second):
			t.Fatal("the token was not renewed")
		}
	}
}

func TestWrapsResponses(t *testing.T) {
	c := client(t)
	name := mount(t, c)
	_, err := c.KVv2(name).Put(ctx, "a", map[string]any{"n": "1"})
	must(t, err)
	c.SetWrappingLookupFunc(func(operation, path string) string {
		if operation == "GET" {
			return "5m"
		}
		return ""
	})
	wrapped, err := c.Logical().Read(name + "/data/a")
	must(t, err)
	equal(t, wrapped.WrapInfo.TTL, 300)
	unwrapped, err := withToken(t, wrapped.WrapInfo.Token).Logical().Unwrap("")
	must(t, err)
	equal(t, unwrapped.Data["data"], map[string]any{"n": "1"})
	_, err = client(t).Logical().Unwrap(wrapped.WrapInfo.Token)
	equal(t, status(err), http.StatusBadRequest)
}

func TestWorksInNamespaces(t *testing.T) {
	c := client(t)
	name := mount(t, c) + "-ns"
	_, err := c.Logical().Write("sys/namespaces/"+name, nil)
	must(t, err)
	inside := client(t).WithNamespace(name)
	must(t, inside.Sys().Mount("kv", &api.MountInput{Type: "kv-v2"}))
	_, err = inside.KVv2("kv").Put(ctx, "a", map[string]any{"n": "1"})
	must(t, err)
	secret, err := c.Logical().Read(name + "/kv/data/a")
	must(t, err)
	equal(t, secret.Data["data"], map[string]any{"n": "1"})
	must(t, inside.Sys().Unmount("kv"))
	_, err = c.Logical().Delete("sys/namespaces/" + name)
	must(t, err)
}

func TestReadsTheStateOfTheServerWithoutAToken(t *testing.T) {
	c := withToken(t, "")
	health, err := c.Sys().Health()
	must(t, err)
	equal(t, []bool{health.Initialized, health.Sealed, health.Standby}, []bool{true, false, false})
	if health.Version == "" || health.ServerTimeUTC == 0 {
		t.Fatalf("%+v", health)
	}
	seal, err := c.Sys().SealStatus()
	must(t, err)
	equal(t, []bool{seal.Initialized, seal.Sealed}, []bool{true, false})
	_, err = c.Sys().Leader()
	must(t, err)
	initialized, err := c.Sys().InitStatus()
	must(t, err)
	equal(t, initialized, true)
}
