// What is put into a cache comes out of it, and nothing else does.
#include "cuda/kernel_cache.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace isomer::cuda {
namespace {

std::string Folder(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(KernelCache, KeepsImagesAndChoices) {
  const std::string folder = Folder("kept/deeper");
  {
    auto cache = KernelCache::Open(folder);
    ASSERT_TRUE(cache.ok()) << cache.status();
    EXPECT_EQ((*cache)->Image("source"), std::nullopt);
    EXPECT_EQ((*cache)->Choice("kernel"), std::nullopt);
    (*cache)->AddImage("source", std::string("\0code", 5));
    (*cache)->AddChoice("kernel", "64x64 k32 2x2x1 s4 z1");
    ASSERT_TRUE((*cache)->Save().ok());
  }
  auto again = KernelCache::Open(folder);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->Image("source"), std::string("\0code", 5));
  EXPECT_EQ((*again)->Image("sourc"), std::nullopt);
  EXPECT_EQ((*again)->Choice("kernel"), "64x64 k32 2x2x1 s4 z1");
  EXPECT_EQ((*again)->Choice("kernel2"), std::nullopt);
}

TEST(KernelCache, KeepsThemInMemory) {
  const auto cache = KernelCache::InMemory();
  EXPECT_EQ(cache->Image("source"), std::nullopt);
  cache->AddImage("source", "code");
  cache->AddChoice("kernel", "library 1");
  EXPECT_TRUE(cache->Save().ok());
  EXPECT_EQ(cache->Image("source"), "code");
  EXPECT_EQ(cache->Choice("kernel"), "library 1");
  EXPECT_EQ(KernelCache::InMemory()->Image("source"), std::nullopt);
}

TEST(KernelCache, ChoicesOfOthersStay) {
  const std::string folder = Folder("shared");
  auto one = KernelCache::Open(folder), two = KernelCache::Open(folder);
  (*one)->AddChoice("a", "library 1");
  (*two)->AddChoice("b", "element");
  ASSERT_TRUE((*one)->Save().ok());
  ASSERT_TRUE((*two)->Save().ok());
  auto both = KernelCache::Open(folder);
  EXPECT_EQ((*both)->Choice("a"), "library 1");
  EXPECT_EQ((*both)->Choice("b"), "element");
}

TEST(KernelCache, WhatIsBrokenIsNotThere) {
  const std::string folder = Folder("broken");
  auto cache = KernelCache::Open(folder);
  (*cache)->AddImage("source", "code");
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ofstream(file.path()) << "sour";
  }
  EXPECT_EQ((*cache)->Image("source"), std::nullopt);
  std::ofstream(folder + "/choices") << "no variant\n\nalone\n";
  auto again = KernelCache::Open(folder);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->Choice("alone"), std::nullopt);
  std::ofstream(folder + "/file") << "x";
  EXPECT_FALSE(KernelCache::Open(folder + "/file").ok());
}

}  // namespace
}  // namespace isomer::cuda
