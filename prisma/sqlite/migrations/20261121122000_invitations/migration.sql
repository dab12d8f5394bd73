-- CreateTable
CREATE TABLE "invitations" (
    "hash" TEXT NOT NULL PRIMARY KEY,
    "person_id" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT,
    CONSTRAINT "invitations_person_id_fkey" FOREIGN KEY ("person_id") REFERENCES "people" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateIndex
CREATE INDEX "invitations_person_id_idx" ON "invitations"("person_id");
