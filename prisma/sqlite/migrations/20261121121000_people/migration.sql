-- CreateTable
CREATE TABLE "people" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "disabled_at" BIGINT
);

-- CreateTable
CREATE TABLE "person_roles" (
    "person_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,

    PRIMARY KEY ("person_id", "role"),
    CONSTRAINT "person_roles_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "people" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "sessions" (
    "hash" TEXT NOT NULL PRIMARY KEY,
    "person_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "ended_at" BIGINT,
    "address" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    CONSTRAINT "sessions_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "people" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "api_tokens" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "person_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "last_used_at" BIGINT,
    "revoked_at" BIGINT,
    CONSTRAINT "api_tokens_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "people" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "first_run_links" (
    "hash" TEXT NOT NULL PRIMARY KEY,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT
);

-- CreateTable
CREATE TABLE "sign_in_attempts" (
    "subject" TEXT NOT NULL PRIMARY KEY,
    "failures" INTEGER NOT NULL,
    "blocked_until" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "agents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "jwks" TEXT NOT NULL,
    "added_at" BIGINT NOT NULL,
    "added_by" TEXT NOT NULL,
    "removed_at" BIGINT
);

-- CreateIndex
CREATE UNIQUE INDEX "people_name_key" ON "people"("name");

-- CreateIndex
CREATE INDEX "person_roles_role_idx" ON "person_roles"("role");

-- CreateIndex
CREATE INDEX "sessions_person_id_idx" ON "sessions"("person_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_tokens_hash_key" ON "api_tokens"("hash");

-- CreateIndex
CREATE INDEX "api_tokens_person_id_idx" ON "api_tokens"("person_id");

-- CreateIndex
CREATE INDEX "sign_in_attempts_updated_at_idx" ON "sign_in_attempts"("updated_at");
