// Makes calls of vault-client-go as its users make them.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/hashicorp/vault-client-go"
	"github.com/hashicorp/vault-client-go/schema"
)

// must returns the result of a call. It ends the program if there is an error.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}

func equal(got, want any) {
	if !reflect.DeepEqual(got, want) {
		panic(fmt.Sprintf("got %#v, want %#v", got, want))
	}
}

func refused(err error, status int) {
	if !vault.IsErrorStatus(err, status) {
		panic(fmt.Sprintf("expected the status %d, got: %v", status, err))
	}
}

// as returns a client with this token.
func as(token string) *vault.Client {
	client := must(vault.New(vault.WithAddress(os.Getenv("VAULT_ADDR")), vault.WithRequestTimeout(30*time.Second)))
	if err := client.SetToken(token); err != nil {
		panic(err)
	}
	return client
}

func main() {
	ctx := context.Background()
	mount := os.Getenv("MOUNT")
	at := vault.WithMountPath(mount)
	client := as(os.Getenv("VAULT_TOKEN"))
	kv := client.Secrets

	write := func(user string, version int) (*vault.Response[schema.KvV2WriteResponse], error) {
		request := schema.KvV2WriteRequest{Data: map[string]any{"user": user}, Options: map[string]any{"cas": version}}
		return kv.KvV2Write(ctx, "shop/db", request, at)
	}
	equal(must(write("a", 0)).Data.Version, int64(1))
	equal(must(write("b", 1)).Data.Version, int64(2))
	_, err := write("c", 1)
	refused(err, 400)
	equal(must(kv.KvV2Read(ctx, "shop/db", at)).Data.Data, map[string]any{"user": "b"})
	equal(must(kv.KvV2List(ctx, "shop", at)).Data.Keys, []string{"db"})
	must(kv.KvV2DeleteVersions(ctx, "shop/db", schema.KvV2DeleteVersionsRequest{Versions: []int32{2}}, at))
	_, err = kv.KvV2Read(ctx, "shop/db", at)
	refused(err, 404)
	must(kv.KvV2UndeleteVersions(ctx, "shop/db", schema.KvV2UndeleteVersionsRequest{Versions: []int32{2}}, at))
	metadata := schema.KvV2WriteMetadataRequest{MaxVersions: 4, DeleteVersionAfter: "2h", CustomMetadata: map[string]any{"team": "shop"}}
	must(kv.KvV2WriteMetadata(ctx, "shop/db", metadata, at))
	described := must(kv.KvV2ReadMetadata(ctx, "shop/db", at)).Data
	equal([]any{described.MaxVersions, described.DeleteVersionAfter}, []any{int64(4), "2h0m0s"})
	equal(described.CustomMetadata, map[string]any{"team": "shop"})

	name := mount + "-2"
	rules := `path "` + mount + `/data/*" { capabilities = ["read"] }`
	must(client.System.PoliciesWriteAclPolicy(ctx, name, schema.PoliciesWriteAclPolicyRequest{Policy: rules}))
	equal(must(client.System.PoliciesReadAclPolicy(ctx, name)).Data.Policy, rules)
	request := schema.TokenCreateRequest{Policies: []string{name}, Ttl: "1h"}
	limited := as(must(client.Auth.TokenCreate(ctx, request)).Auth.ClientToken)
	equal(must(limited.Secrets.KvV2Read(ctx, "shop/db", at)).Data.Data, map[string]any{"user": "b"})
	_, err = limited.Secrets.KvV2Delete(ctx, "shop/db", at)
	refused(err, 403)
	must(limited.Auth.TokenLookUpSelf(ctx))
	must(limited.Auth.TokenRevokeSelf(ctx))
	_, err = limited.Auth.TokenLookUpSelf(ctx)
	refused(err, 403)

	wrapped := must(kv.KvV2Read(ctx, "shop/db", at, vault.WithResponseWrapping(time.Minute)))
	unwrapped := must(vault.Unwrap[schema.KvV2ReadResponse](ctx, client, wrapped.WrapInfo.Token))
	equal(unwrapped.Data.Data, map[string]any{"user": "b"})

	login := schema.AzureLoginRequest{Role: os.Getenv("ROLE"), Jwt: os.Getenv("JWT")}
	workload := as(must(client.Auth.AzureLogin(ctx, login)).Auth.ClientToken)
	equal(must(workload.Secrets.KvV2Read(ctx, "shop/db", at)).Data.Data, map[string]any{"user": "b"})
	must(kv.KvV2DeleteMetadataAndAllVersions(ctx, "shop/db", at))
	must(client.System.PoliciesDeleteAclPolicy(ctx, name))
}
